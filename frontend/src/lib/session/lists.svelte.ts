import { stream } from '#lib/stream/stream.svelte.ts';
import { api, asProblem, read, type Problem, type Schema } from '#lib/api/client.ts';
import { hasEnded } from '#lib/ui/status.ts';

/** The newest sessions and datasets, and what waits for the user. Old rows stay while new ones come. */
export class HomeLists {
	sessions = $state<Schema<'SessionSummary'>[]>([]);
	/** There are older sessions than these. */
	hasMore = $state(false);
	awaitingRuns = $state.raw<Schema<'InboxRunView'>[]>([]);
	/** The newest run of each workflow that failed or left a doubt, until it was seen or a later run was good. */
	reviewedRuns = $state.raw<Schema<'InboxRunView'>[]>([]);
	awaitingTurns = $state.raw<Schema<'AwaitingTurnView'>[]>([]);
	datasets = $state<Schema<'DatasetView'>[]>([]);
	problem = $state<Problem | null>(null);
	isLoaded = $state(false);

	/** Of all ages: what waits for long is no longer among the newest. */
	waiting = $state.raw<Schema<'SessionSummary'>[]>([]);
	waitingCount = $derived(this.waiting.length + this.awaitingRuns.length + this.reviewedRuns.length + this.awaitingTurns.length);
	running = $derived(
		this.sessions.filter((session) => ['queued', 'running', 'awaiting_fits', 'paused', 'cancelling'].includes(session.status))
	);
	ended = $derived(
		this.sessions.filter((session) => hasEnded(session.status))
	);

	async load(): Promise<void> {
		try {
			const query = { limit: 50 };
			const sessions = await read(api.GET('/api/v1/lab/agent/sessions', { params: { query } }));
			this.sessions = sessions.items;
			this.hasMore = sessions.next_cursor != null;
			const waits = { ...query, status: 'awaiting_user' } as const;
			this.waiting = (await read(api.GET('/api/v1/lab/agent/sessions', { params: { query: waits } }))).items;
			const params = { query: { status: 'awaiting_user' } } as const;
			[this.awaitingRuns, this.reviewedRuns, this.awaitingTurns] = await Promise.all([
				read(api.GET('/api/v1/workflow-runs', { params })),
				read(api.GET('/api/v1/workflow-runs', { params: { query: { status: 'needs_review' } } })),
				read(api.GET('/api/v1/turns', { params }))
			]);
			if (!this.isLoaded) this.datasets = (await read(api.GET('/api/v1/datasets', { params: { query } }))).items;
			this.problem = null;
			this.isLoaded = true;
		} catch (error) {
			this.problem = asProblem(error);
		}
	}

	/** Load now and after each change; returns the function that stops it, for an effect. */
	watch(): () => void {
		void this.load();
		return stream.watchLists(() => void this.load());
	}
}
