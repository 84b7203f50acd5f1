import { AnswerOrder } from '#lib/api/answer_order.ts';
import { api, asProblem, read, type Problem, type Schema } from '#lib/api/client.ts';
import { markSeen } from '#lib/workflows/whole_run.svelte.ts';
import { readAndFollowLists } from '#lib/stream/follow.ts';

/** Items that are counted one by one; a larger number tells nobody more. */
export const MAX_COUNTED = 99;

/** Everything that waits for the user, of all ages. Shared by the screens that list it and the number beside Inbox. */
export class Inbox {
	/** Questions and proposals, the longest waiting first. */
	items = $state.raw<Schema<'InboxItem'>[]>([]);
	/** The newest run of each workflow that failed or left a doubt, until it was seen or a later run was good. */
	reviewedRuns = $state.raw<Schema<'InboxRunView'>[]>([]);
	problem = $state<Problem | null>(null);
	isLoaded = $state(false);
	/** It is read after changes elsewhere and after its user's own, which may be at once. */
	readonly #order = new AnswerOrder();

	count = $derived(this.items.length + this.reviewedRuns.length);
	/** The number as it is shown: `99+` where more wait. */
	shownCount = $derived(this.count > MAX_COUNTED ? `${MAX_COUNTED}+` : String(this.count));

	load = async (): Promise<void> => {
		const isNext = this.#order.begin();
		const query = { limit: MAX_COUNTED + 1 };
		try {
			const [waiting, reviewedRuns] = await Promise.all([
				read(api.GET('/api/v1/inbox', { params: { query } })),
				read(api.GET('/api/v1/workflow-runs', { params: { query: { ...query, status: 'needs_review' } } }))
			]);
			if (!isNext()) return;
			[this.items, this.reviewedRuns] = [waiting.items, reviewedRuns];
			[this.problem, this.isLoaded] = [null, true];
		} catch (error) {
			if (isNext()) this.problem = asProblem(error);
		}
	};

	/** Take all runs that failed or left a doubt off the list, also those beyond what is shown. Throws Problem. */
	markAllSeen = async (): Promise<void> => {
		while (this.reviewedRuns.length) {
			const before = this.reviewedRuns;
			for (const run of before) await markSeen(run.id);
			await this.load();
			// Whatever came back would come back again.
			if (this.problem || this.reviewedRuns.some((run) => before.some(({ id }) => id === run.id))) return;
		}
	};

	/** Read now and after each change; returns the function that stops it, for an effect. */
	watch(): () => void {
		return readAndFollowLists(this.load);
	}
}

export const inbox = new Inbox();
