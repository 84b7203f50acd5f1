import { api, asProblem, read, type Problem, type Schema } from '#lib/api/client.ts';
import { timeZone } from '#lib/time_zone.ts';

const POLL_MS = 500;

/** A request in words that is carried out once, or changes a workflow: sent, and followed until it is answered. */
export class Job {
	view = $state.raw<Schema<'JobView'> | null>(null);
	problem = $state<Problem | null>(null);
	isBusy = $state(false);

	/** `workflow`: the name of the one that a lasting change is made of. */
	async send(prompt: string, workflow: string | null): Promise<void> {
		[this.view, this.problem, this.isBusy] = [null, null, true];
		const time_zone = timeZone();
		const body = { version: '1.0', job_id: crypto.randomUUID(), prompt, ...(time_zone && { time_zone }), ...(workflow && { workflow_tag: workflow }) };
		try {
			let job = await read(api.POST('/api/v1/agent/jobs', { body: body as Schema<'JobRequest'> }));
			const params = { path: { job_id: job.job_id } };
			while (!job.answer) {
				await new Promise((resolve) => setTimeout(resolve, POLL_MS));
				job = await read(api.GET('/api/v1/agent/jobs/{job_id}', { params }));
			}
			this.view = job;
		} catch (error) {
			this.problem = asProblem(error);
		}
		this.isBusy = false;
	}

	async show(job_id: string): Promise<void> {
		try {
			this.view = await read(api.GET('/api/v1/agent/jobs/{job_id}', { params: { path: { job_id } } }));
		} catch (error) {
			this.problem = asProblem(error);
		}
	}
}
