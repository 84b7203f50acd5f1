import { api, read, type Schema } from '#lib/api/client.ts';
import { Followed } from '#lib/api/followed.svelte.ts';
import { sendOnce } from '#lib/api/send_once.ts';

const POLL_MS = 700;

export const SIGNS: Readonly<Record<Schema<'NodeResult'>['status'], string>> = { done: '✓', skipped: '–', failed: '✕', unknown: '?' };

/** A run that stands in the Inbox until its owner has seen how it ended. */
const isToReview = (view: Schema<'WholeRunView'>): boolean =>
	view.ended_at !== null && (view.outcome !== 'succeeded' || Object.values(view.nodes).some((node) => node.needs_review));

/** Take a run off the Inbox, with those before it of its workflow. */
export const markSeen = (run_id: string): Promise<unknown> => read(api.POST('/api/v1/workflow-runs/{run_id}/seen', { params: { path: { run_id } } }));

/** A run of all nodes of a workflow, followed until it has ended. */
export class WholeRun extends Followed<Schema<'WholeRunView'>> {
	constructor() {
		super({
			read: (run_id) => read(api.GET('/api/v1/workflow-runs/{run_id}', { params: { path: { run_id } } })),
			hasEnded: (view) => view.ended_at !== null,
			pollMs: POLL_MS,
			onShown: async (view) => {
				// What cannot be marked stays in the Inbox, where its user sees it.
				if (isToReview(view) && document.visibilityState === 'visible') await markSeen(view.id).catch(() => undefined);
			}
		});
	}

	answer = (key: string, answer: unknown): Promise<void> =>
		this.#act((params) => read(api.POST('/api/v1/workflow-runs/{run_id}/answer', { params, body: { key, answer } as Schema<'RunAnswer'> })));

	cancel = (): Promise<void> => this.#act((params) => read(api.POST('/api/v1/workflow-runs/{run_id}/cancel', { params })));

	/** Run the failed nodes, and those behind them, again. */
	retry = async (): Promise<void> => {
		const run_id = this.view?.id;
		if (!run_id) return;
		await this.change.run(async () => {
			const isCurrent = this.whileCurrent();
			const again = await sendOnce('retry', { run_id }, (key) => {
				const params = { path: { run_id }, header: { 'Idempotency-Key': key } };
				return read(api.POST('/api/v1/workflow-runs/{run_id}/retry', { params, body: {} as Schema<'RunRetry'> }));
			});
			if (isCurrent()) void this.follow(again.id);
		});
	};

	async #act(action: (params: { path: { run_id: string } }) => Promise<Schema<'WholeRunView'>>): Promise<void> {
		const run_id = this.view?.id;
		if (run_id) await this.change.run(() => this.show(action({ path: { run_id } })));
	}
}
