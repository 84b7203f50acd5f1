import { api, read, type Schema } from '#lib/api/client.ts';

let reading: Promise<Schema<'ServiceConfig'> | null> | null = null;

/** What the service allows, read once; null where it cannot be read: the service then refuses by itself. */
export function serviceConfig(): Promise<Schema<'ServiceConfig'> | null> {
	reading ??= read(api.GET('/api/v1/config')).catch(() => {
		reading = null;
		return null;
	});
	return reading;
}
