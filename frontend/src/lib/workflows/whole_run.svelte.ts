import { api, asProblem, read, type Problem, type Schema } from '#lib/api/client.ts';
import { Change } from '#lib/api/resource.svelte.ts';

const POLL_MS = 700;

export const SIGNS: Readonly<Record<Schema<'NodeResult'>['status'], string>> = { done: '✓', skipped: '–', failed: '✕', unknown: '?' };

/** A run that stands in the Inbox until its owner has seen how it ended. */
const isToReview = (view: Schema<'WholeRunView'>): boolean =>
	view.ended_at !== null && (view.outcome !== 'succeeded' || Object.values(view.nodes).some((node) => node.needs_review));

/** Take a run off the Inbox, with those before it of its workflow. */
export const markSeen = (run_id: string): Promise<unknown> => read(api.POST('/api/v1/workflow-runs/{run_id}/seen', { params: { path: { run_id } } }));

/** A run of all nodes of a workflow, followed until it has ended. */
export class WholeRun {
	view = $state.raw<Schema<'WholeRunView'> | null>(null);
	problem = $state<Problem | null>(null);
	readonly change = new Change();
	/** The run that is followed: an older loop ends when another run is chosen. */
	#followed = '';

	async follow(run_id: string): Promise<void> {
		this.#followed = run_id;
		[this.view, this.problem] = [null, null];
		while (this.#followed === run_id) {
			if (await this.#look(run_id)) return;
			await new Promise((resolve) => setTimeout(resolve, POLL_MS));
		}
	}

	/** Read the run once; true if nothing more will come of it. A lost connection is said, and the last view stays. */
	async #look(run_id: string): Promise<boolean> {
		try {
			const view = await read(api.GET('/api/v1/workflow-runs/{run_id}', { params: { path: { run_id } } }));
			if (this.#followed === run_id) [this.view, this.problem] = [view, null];
			if (isToReview(view) && document.visibilityState === 'visible') await markSeen(run_id);
			return view.ended_at !== null;
		} catch (error) {
			const problem = asProblem(error);
			if (this.#followed === run_id) this.problem = problem;
			return !problem.isPassing;
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
		const run_id = this.view?.id;
		if (!run_id) return;
		await this.change.run(async () => {
			this.view = await action({ path: { run_id } });
		});
	}
}
