import { api, asProblem, read, type Problem, type Schema } from '#lib/api/client.ts';

const POLL_MS = 700;

/** A run of all nodes of a workflow, followed until it has ended. */
export class WholeRun {
	view = $state.raw<Schema<'WholeRunView'> | null>(null);
	problem = $state<Problem | null>(null);
	/** The run that is followed: an older loop ends when another run is chosen. */
	#followed = '';

	async follow(run_id: string): Promise<void> {
		this.#followed = run_id;
		[this.view, this.problem] = [null, null];
		const params = { path: { run_id } };
		try {
			while (this.#followed === run_id) {
				const view = await read(api.GET('/api/v1/workflow-runs/{run_id}', { params }));
				if (this.#followed !== run_id) return;
				this.view = view;
				if (view.ended_at) return;
				await new Promise((resolve) => setTimeout(resolve, POLL_MS));
			}
		} catch (error) {
			this.problem = asProblem(error);
		}
	}

	leave(): void {
		this.#followed = '';
	}

	answer = (key: string, answer: unknown): Promise<void> =>
		this.#act((params) => read(api.POST('/api/v1/workflow-runs/{run_id}/answer', { params, body: { key, answer } as Schema<'RunAnswer'> })));

	cancel = (): Promise<void> => this.#act((params) => read(api.POST('/api/v1/workflow-runs/{run_id}/cancel', { params })));

	/** Run the failed nodes, and those behind them, again. */
	retry = (): Promise<void> =>
		this.#act(async (params) => {
			const again = await read(api.POST('/api/v1/workflow-runs/{run_id}/retry', { params, body: {} as Schema<'RunRetry'> }));
			void this.follow(again.id);
			return again;
		});

	async #act(action: (params: { path: { run_id: string } }) => Promise<Schema<'WholeRunView'>>): Promise<void> {
		if (!this.view) return;
		this.problem = null;
		try {
			this.view = await action({ path: { run_id: this.view.id } });
		} catch (error) {
			this.problem = asProblem(error);
		}
	}
}
