import { api, read } from '#lib/api/client.ts';

/** Change the hosts of the user's requests as they are now: the request replaces all of them, and another tab may have changed some. */
export async function changeHosts(changed: (former: string[]) => string[]): Promise<void> {
	const { hosts } = await read(api.GET('/api/v1/request-hosts'));
	await read(api.PUT('/api/v1/request-hosts', { body: { hosts: changed(hosts) } }));
}

export const withHost = (host: string) => (former: string[]): string[] => [...former.filter((other) => other !== host), host];
