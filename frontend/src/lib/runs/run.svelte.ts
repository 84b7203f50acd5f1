import { api, asProblem, read, type Problem, type Schema } from '#lib/api/client.ts';

export type Language = Schema<'RunCreate'>['language'];

const POLL_MS = 400;
const ENDED: ReadonlySet<Schema<'RunStatus'>> = new Set(['succeeded', 'failed', 'timed_out', 'rejected', 'cancelled']);

/** One program or query of the editor, from its start to its end. */
export class Run {
	view = $state.raw<Schema<'RunView'> | null>(null);
	problem = $state<Problem | null>(null);
	isBusy = $state(false);

	/** `text`: SQL, Python, or a query plan as JSON. */
	async start(language: Language, text: string, dataset_ids: string[]): Promise<void> {
		[this.problem, this.view, this.isBusy] = [null, null, true];
		try {
			const program = language === 'plan' ? { plan: JSON.parse(text) as Schema<'RunCreate'>['plan'] } : { code: text };
			const body = { language, dataset_ids, ...program } as Schema<'RunCreate'>;
			const params = { header: { 'Idempotency-Key': crypto.randomUUID() } };
			await this.follow((await read(api.POST('/api/v1/runs', { params, body }))).id);
		} catch (error) {
			this.problem = error instanceof SyntaxError ? asProblem(new Error(`The plan is not JSON: ${error.message}`)) : asProblem(error);
		}
		this.isBusy = false;
	}

	/** Read a run until it has ended. */
	async follow(run_id: string): Promise<void> {
		const params = { path: { run_id } };
		this.view = await read(api.GET('/api/v1/runs/{run_id}', { params }));
		while (this.view && !ENDED.has(this.view.status)) {
			await new Promise((resolve) => setTimeout(resolve, POLL_MS));
			this.view = await read(api.GET('/api/v1/runs/{run_id}', { params }));
		}
	}

	async stop(): Promise<void> {
		if (!this.view) return;
		await read(api.DELETE('/api/v1/runs/{run_id}', { params: { path: { run_id: this.view.id } } }));
	}
}
