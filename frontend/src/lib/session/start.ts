import { goto } from '$app/navigation';
import { api, read, type Schema } from '#lib/api/client.ts';
import { sendOnce } from '#lib/api/send_once.ts';

/** Start a session and go to it. Throws Problem. */
export async function startSession(
	goal: string,
	dataset: Schema<'DatasetView'> | null,
	preferences: Partial<Schema<'Preferences'>>
): Promise<void> {
	const body = { goal, dataset_ids: dataset ? [dataset.id] : [], preferences: preferences as Schema<'Preferences'> };
	const session = await sendOnce('start', body, (key) =>
		read(api.POST('/api/v1/lab/agent/sessions', { params: { header: { 'Idempotency-Key': key } }, body }))
	);
	await goto(`/sessions/${session.id}`);
}
