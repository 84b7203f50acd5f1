import { api, read, type Schema } from '#lib/api/client.ts';
import { Followed } from '#lib/api/followed.svelte.ts';
import { sendOnce } from '#lib/api/send_once.ts';
import { timeZone } from '#lib/time_zone.ts';

const POLL_MS = 500;

/** A request in words that is carried out once, or changes a workflow: sent, and followed until it is answered. */
export class Job extends Followed<Schema<'JobView'>> {
	constructor() {
		super({
			read: (job_id) => read(api.GET('/api/v1/agent/jobs/{job_id}', { params: { path: { job_id } } })),
			hasEnded: (job) => Boolean(job.answer),
			pollMs: POLL_MS
		});
	}

	/** `workflow`: the name of the one that a lasting change is made of. Returns whether it was answered. */
	send(prompt: string, workflow: string | null): Promise<boolean> {
		return this.create(async () => {
			const time_zone = timeZone();
			const content = { version: '1.0', prompt, ...(time_zone && { time_zone }), ...(workflow && { workflow_tag: workflow }) };
			const job = await sendOnce('job', content, (job_id) =>
				read(api.POST('/api/v1/agent/jobs', { body: { ...content, job_id } as Schema<'JobRequest'> }))
			);
			return job.job_id;
		});
	}

	/** A job that was stopped has an answer too, which says so. */
	stop = async (): Promise<void> => {
		const job_id = this.view?.job_id;
		if (!job_id) return;
		await this.change.run(() => this.show(read(api.POST('/api/v1/agent/jobs/{job_id}/cancel', { params: { path: { job_id } } }))));
	};
}
