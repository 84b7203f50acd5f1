import { api, read, type Schema } from '#lib/api/client.ts';
import { sendOnce } from '#lib/api/send_once.ts';
import { wayOn } from '#lib/ui/way_on.ts';

/** Start a session and go to it. Throws Problem. */
export async function startSession(
	goal: string,
	datasets: readonly Schema<'DatasetView'>[],
	preferences: Partial<Schema<'Preferences'>>
): Promise<void> {
	const go = wayOn();
	const body = { goal, dataset_ids: datasets.map(({ id }) => id), preferences: preferences as Schema<'Preferences'> };
	const session = await sendOnce('start', body, (key) =>
		read(api.POST('/api/v1/lab/agent/sessions', { params: { header: { 'Idempotency-Key': key } }, body }))
	);
	await go(`/sessions/${session.id}`);
}
