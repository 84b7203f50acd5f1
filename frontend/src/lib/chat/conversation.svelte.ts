import { AnswerOrder } from '#lib/api/answer_order.ts';
import { api, asProblem, PAGE_HEADERS, read, type Problem, type Schema } from '#lib/api/client.ts';
import { sendOnce } from '#lib/api/send_once.ts';
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
	readonly #order = new AnswerOrder();
	/** Its screen is open: what is still answered is followed. */
	#isWatched = false;
	#isReadingEarlier = false;
	/** What was said on this screen. */
	readonly #said: LiveTurn[] = [];

	hasEarlier = $derived(this.#before !== null);
	open = $derived(this.turns.filter((turn) => !turn.isOver));

	constructor(id: string, branch = '') {
		this.id = id;
		this.branch = branch;
	}

	async load(): Promise<void> {
		const isNext = this.#order.begin();
		const before = this.#said.length;
		try {
			const path = { thread_id: this.id };
			const thread = await read(api.GET('/api/v1/threads/{thread_id}', { params: { path } }));
			const page = await this.#page(null);
			if (!isNext()) return;
			this.#close();
			// What was said while the list was on its way may not stand in it.
			const ids = new Set(page.turns.map(({ view }) => view.turn_id));
			const said = this.#said.slice(before).filter(({ view }) => !ids.has(view.turn_id));
			[this.thread, this.turns, this.#before] = [thread, [...page.turns, ...said], page.before];
			[this.problem, this.isLoaded] = [null, true];
			if (this.#isWatched) this.open.forEach((turn) => turn.open());
		} catch (error) {
			if (isNext()) this.problem = asProblem(error);
		}
	}

	/** Read the page before. Nothing is read twice, and nothing of a page that stood before a list that was read anew. */
	async loadEarlier(): Promise<void> {
		if (this.#isReadingEarlier) return;
		this.#isReadingEarlier = true;
		const before = this.#before;
		try {
			const page = await this.#page(before);
			if (before === this.#before) [this.turns, this.#before, this.problem] = [[...page.turns, ...this.turns], page.before, null];
		} catch (error) {
			this.problem = asProblem(error);
		}
		this.#isReadingEarlier = false;
	}

	async #page(before: string | null): Promise<{ turns: LiveTurn[]; before: string | null }> {
		const query = { turns: PAGE_TURNS, ...(before && { before }), ...(this.branch && { worldline: this.branch }) };
		const params = { path: { thread_id: this.id }, query };
		const page = await read(api.GET('/api/v1/threads/{thread_id}/messages', { params }));
		const views = page.messages.flatMap((message) => (message.turn ? [message.turn] : []));
		return { turns: views.map((view) => new LiveTurn(view)), before: page.next };
	}

	/** Say something; the turn stands at the end at once. Throws Problem. */
	async say(message: string, datasets: string[]): Promise<void> {
		const line = this.branch && { worldline_id: this.branch };
		const view = await say({ message, thread_id: this.id, dataset_ids: datasets, ...line });
		// It stands there already where it was sent again, because its answer was lost, and the list was read meanwhile.
		if (this.turns.some((turn) => turn.view.turn_id === view.turn_id)) return;
		const turn = new LiveTurn(view);
		this.turns.push(turn);
		this.#said.push(turn);
		if (this.#isWatched) turn.open();
	}

	/** Begin a branch before a turn with another message. Returns the branch's id. Throws Problem. */
	async rewrite(turn: LiveTurn, message: string): Promise<string> {
		const body = { thread_id: this.id, from_turn: turn.view.parent_id, message };
		const worldline = await sendOnce('rewrite', body, (key) => {
			const params = { header: { 'Idempotency-Key': key } };
			return read(api.POST('/api/v1/worldlines', { params, body, headers: PAGE_HEADERS }));
		});
		return worldline.id;
	}

	/** Follow what is still answered; returns the function that ends it, for an effect. */
	watch(): () => void {
		this.#isWatched = true;
		void this.load();
		return () => {
			this.#isWatched = false;
			this.#close();
		};
	}

	#close(): void {
		this.turns.forEach((turn) => turn.close());
	}

	async changeData(datasets: string[]): Promise<void> {
		const params = { path: { thread_id: this.id } };
		this.thread = await read(api.PATCH('/api/v1/threads/{thread_id}', { params, body: { dataset_ids: datasets } }));
	}
}

/** Create a turn, of a new thread where the message names none. Throws Problem. */
export async function say(body: Schema<'ChatMessage'>): Promise<Schema<'TurnView'>> {
	const time_zone = timeZone();
	const preferences = { ...body.preferences, ...(time_zone && { time_zone }) } as Schema<'TurnPreferences'>;
	const message = { ...body, preferences };
	return await sendOnce('say', message, (key) => {
		const params = { query: { wait: 0 }, header: { 'Idempotency-Key': key } };
		return read(api.POST('/api/v1/chat', { params, body: message, headers: PAGE_HEADERS }));
	});
}
