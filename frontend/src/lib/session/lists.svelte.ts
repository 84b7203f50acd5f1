import { readAndFollowLists } from '#lib/stream/follow.ts';
import { AnswerOrder } from '#lib/api/answer_order.ts';
import { api, asProblem, read, type Problem, type Schema } from '#lib/api/client.ts';
import { hasEnded } from '#lib/ui/status.ts';

/** The newest sessions and datasets. Old rows stay while new ones come. */
export class HomeLists {
	sessions = $state<Schema<'SessionSummary'>[]>([]);
	/** There are older sessions than these. */
	hasMore = $state(false);
	datasets = $state<Schema<'DatasetView'>[]>([]);
	problem = $state<Problem | null>(null);
	isLoaded = $state(false);
	readonly #order = new AnswerOrder();

	running = $derived(
		this.sessions.filter((session) => ['queued', 'running', 'awaiting_fits', 'paused', 'cancelling'].includes(session.status))
	);
	ended = $derived(
		this.sessions.filter((session) => hasEnded(session.status))
	);

	load = async (): Promise<void> => {
		const isNext = this.#order.begin();
		try {
			const query = { limit: 50 };
			const sessions = await read(api.GET('/api/v1/lab/agent/sessions', { params: { query } }));
			const datasets = this.isLoaded ? this.datasets : (await read(api.GET('/api/v1/datasets', { params: { query } }))).items;
			if (!isNext()) return;
			[this.sessions, this.hasMore, this.datasets] = [sessions.items, sessions.next_cursor != null, datasets];
			[this.problem, this.isLoaded] = [null, true];
		} catch (error) {
			if (isNext()) this.problem = asProblem(error);
		}
	};

	/** Read now and after each change; returns the function that stops it, for an effect. */
	watch(): () => void {
		return readAndFollowLists(this.load);
	}
}
