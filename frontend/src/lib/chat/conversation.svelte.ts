import { api, asProblem, PAGE_HEADERS, read, type Problem, type Schema } from '#lib/api/client.ts';
import { LiveTurn } from '#lib/chat/live-turn.svelte.ts';
import { timeZone } from '#lib/time_zone.ts';

const PAGE_TURNS = 30;

/** One branch of a thread: its turns in order, the last of which may still be answered. */
export class Conversation {
	readonly id: string;
	/** The branch; empty for the first one. */
	readonly branch: string;
	thread = $state<Schema<'ThreadView'> | null>(null);
	turns = $state<LiveTurn[]>([]);
	problem = $state<Problem | null>(null);
	isLoaded = $state(false);
	#before = $state<string | null>(null);

	hasEarlier = $derived(this.#before !== null);
	open = $derived(this.turns.filter((turn) => !turn.isOver));

	constructor(id: string, branch = '') {
		this.id = id;
		this.branch = branch;
	}

	async load(): Promise<void> {
		try {
			const path = { thread_id: this.id };
			this.thread = await read(api.GET('/api/v1/threads/{thread_id}', { params: { path } }));
			this.turns = await this.#page(null);
			this.problem = null;
			this.isLoaded = true;
		} catch (error) {
			this.problem = asProblem(error);
		}
	}

	async loadEarlier(): Promise<void> {
		try {
			this.turns = [...(await this.#page(this.#before)), ...this.turns];
		} catch (error) {
			this.problem = asProblem(error);
		}
	}

	async #page(before: string | null): Promise<LiveTurn[]> {
		const query = { turns: PAGE_TURNS, ...(before && { before }), ...(this.branch && { worldline: this.branch }) };
		const params = { path: { thread_id: this.id }, query };
		const page = await read(api.GET('/api/v1/threads/{thread_id}/messages', { params }));
		this.#before = page.next;
		const views = page.messages.flatMap((message) => (message.turn ? [message.turn] : []));
		return views.map((view) => new LiveTurn(view));
	}

	/** Say something; the turn stands at the end at once. Throws Problem. */
	async say(message: string, datasets: string[]): Promise<void> {
		const line = this.branch && { worldline_id: this.branch };
		const view = await say({ message, thread_id: this.id, dataset_ids: datasets, ...line });
		const turn = new LiveTurn(view);
		this.turns.push(turn);
		turn.open();
	}

	/** Begin a branch before a turn with another message. Returns the branch's id. Throws Problem. */
	async rewrite(turn: LiveTurn, message: string): Promise<string> {
		const body = { thread_id: this.id, from_turn: turn.view.parent_id, message };
		const params = { header: { 'Idempotency-Key': crypto.randomUUID() } };
		return (await read(api.POST('/api/v1/worldlines', { params, body, headers: PAGE_HEADERS }))).id;
	}

	/** Follow what is still answered; returns the function that ends it, for an effect. */
	watch(): () => void {
		void this.load().then(() => this.open.forEach((turn) => turn.open()));
		return () => this.turns.forEach((turn) => turn.close());
	}

	async changeData(datasets: string[]): Promise<void> {
		const params = { path: { thread_id: this.id } };
		this.thread = await read(api.PATCH('/api/v1/threads/{thread_id}', { params, body: { dataset_ids: datasets } }));
	}
}

/** Create a turn, of a new thread where the message names none. Throws Problem. */
export async function say(body: Schema<'ChatMessage'>): Promise<Schema<'TurnView'>> {
	const params = { query: { wait: 0 }, header: { 'Idempotency-Key': crypto.randomUUID() } };
	const time_zone = timeZone();
	const preferences = { ...body.preferences, ...(time_zone && { time_zone }) } as Schema<'TurnPreferences'>;
	return await read(api.POST('/api/v1/chat', { params, body: { ...body, preferences }, headers: PAGE_HEADERS }));
}
