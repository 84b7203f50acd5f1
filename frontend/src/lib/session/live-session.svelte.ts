import { AnswerOrder } from '#lib/api/answer_order.ts';
import { api, asProblem, read, type Problem, type Schema } from '#lib/api/client.ts';
import { CHANGES, numberOf, type SessionEvent, type Understood } from '#lib/session/events.ts';
import { Timeline } from '#lib/session/timeline.svelte.ts';
import { stream } from '#lib/stream/stream.svelte.ts';
import { StreamedAnswer } from '#lib/stream/streamed_answer.ts';
import { hasEnded } from '#lib/ui/status.ts';

/** Below the eye's notice, above the pace of a step: many events, one request. */
const REFRESH_MS = 250;
/** A frame has 16 ms, and what was taken must be drawn too. */
const TAKE_MS = 10;
const PAUSE_POLL_MS = 1000;

/** One session as it stands and as it goes on: read once, then kept up by its event stream from a cursor. */
export class LiveSession {
	readonly id: string;
	view = $state<Schema<'SessionView'> | null>(null);
	/** When the view was read, in milliseconds of this machine's clock. */
	viewedAt = $state(0);
	problem = $state<Problem | null>(null);
	timeline = new Timeline();
	understood = $state<Understood | null>(null);
	plan = $state<string[]>([]);
	notes = $state<string[]>([]);
	progress = $state<{ text: string; fraction: number | null } | null>(null);
	words = $state('');
	cursor = $state(0);
	/** A pause was asked for; the running step and running fits end first. */
	isPausing = $state(false);

	isOver = $derived(this.view !== null && hasEnded(this.view.status));

	#stop: (() => void) | null = null;
	#refresh: ReturnType<typeof setTimeout> | undefined;
	/** The answer that is being written, and the frame that will draw it. */
	readonly #answer = new StreamedAnswer();
	#frame = 0;
	#untaken: SessionEvent[] = [];
	/** Its page was left: what is derived of it can no longer be read. */
	#isClosed = false;
	/** The steps of its source stand in the timeline. */
	#hasCopied = false;
	readonly #order = new AnswerOrder();
	/** The newest reading; it never fails. */
	#reading: Promise<void> | null = null;

	constructor(id: string) {
		this.id = id;
	}

	/** Begin; returns the function that ends it, for an effect. */
	open(): () => void {
		void this.retry();
		this.#listen();
		return () => {
			this.#isClosed = true;
			this.#stop?.();
			clearTimeout(this.#refresh);
		};
	}

	load = (): Promise<void> => (this.#reading = this.#load());

	async #load(): Promise<void> {
		const isNext = this.#order.begin();
		try {
			const params = { path: { session_id: this.id } };
			const view = await read(api.GET('/api/v1/lab/agent/sessions/{session_id}', { params }));
			if (!isNext()) return;
			[this.view, this.viewedAt, this.problem] = [view, Date.now(), null];
		} catch (error) {
			if (isNext()) this.problem = asProblem(error);
		}
		if (this.#isClosed) return;
		if (this.view?.status === 'paused' || this.isOver) this.isPausing = false;
		// No event says that the last step before a pause has ended.
		else if (this.isPausing) this.#readSoon(PAUSE_POLL_MS);
	}

	/** Read all that no event tells. */
	retry = async (): Promise<void> => {
		await this.load();
		if (!this.#isClosed && !this.#hasCopied && this.view?.forked_from) await this.#loadCopied();
	};

	/** A branch has no events of the steps that it copied. */
	async #loadCopied(): Promise<void> {
		const params = { path: { session_id: this.id }, query: { limit: 200 } };
		try {
			const steps = await read(api.GET('/api/v1/lab/agent/sessions/{session_id}/steps', { params }));
			if (this.#isClosed) return;
			this.timeline.addCopied(steps.items.filter((step) => step.inherited));
			this.#hasCopied = true;
		} catch (error) {
			if (!this.#isClosed) this.problem = asProblem(error);
		}
	}

	#listen(): void {
		this.#stop = stream.watchSession(this.id, this.cursor, {
			onEvents: (events) => {
				const isWaiting = this.#untaken.length > 0;
				this.#untaken.push(...events);
				if (!isWaiting) this.#takeSome();
			},
			onEnd: () => void this.#readOpen()
		});
	}

	/** Take events for some time, then let the browser draw and answer, and go on: a long session has thousands. */
	#takeSome(): void {
		// Those that wait for their turn are taken no more once the page was left: they would read the session again.
		if (this.#isClosed) return;
		const end = performance.now() + TAKE_MS;
		let taken = 0;
		while (taken < this.#untaken.length && performance.now() < end) this.#take(this.#untaken[taken++] as SessionEvent);
		this.#untaken.splice(0, taken);
		if (this.#untaken.length) setTimeout(() => this.#takeSome());
	}

	#take(event: SessionEvent): void {
		const number = numberOf(event);
		if (number) {
			if (number <= this.cursor) return;
			this.cursor = number;
		}
		this.timeline.add(event);
		if (event.kind === 'understood') this.understood = event;
		else if (event.kind === 'plan_made') [this.plan, this.notes] = [event.steps, event.notes ?? []];
		else if (event.kind === 'progress') this.progress = { text: event.text, fraction: event.fraction ?? null };
		else if (event.kind === 'token') this.#answer.add(event) && this.#drawSoon();
		else if (event.kind === 'step_finished' || event.kind === 'message') this.#endAnswer();
		if (event.kind === 'session_paused') this.isPausing = true;
		else if (event.kind === 'session_resumed') this.isPausing = false;
		if (CHANGES.has(event.kind)) this.#readSoon();
	}

	/** Words are drawn once a frame, however fast they come. */
	#drawSoon(): void {
		this.#frame ||= requestAnimationFrame(() => [this.#frame, this.words] = [0, this.#answer.text]);
	}

	#endAnswer(): void {
		this.#answer.clear();
		[this.progress, this.words] = [null, ''];
	}

	#readSoon(delayMs: number = REFRESH_MS): void {
		clearTimeout(this.#refresh);
		this.#refresh = setTimeout(() => void this.#readOpen(), delayMs);
	}

	/**
	 * Read it again unless it is over. Its past events bring nothing new then; and it may be deleted meanwhile, which ends
	 * its stream once more, and cannot be read any longer.
	 */
	async #readOpen(): Promise<void> {
		// What is on its way may tell that it is over.
		await this.#reading;
		if (!this.#isClosed && !this.isOver) await this.load();
	}

	async answer(question: string, answer: Schema<'JsonValue'>): Promise<void> {
		const params = { path: { session_id: this.id } };
		await read(api.POST('/api/v1/lab/agent/sessions/{session_id}/respond', { params, body: { question, answer } }));
		await this.load();
	}

	async pause(): Promise<void> {
		const params = { path: { session_id: this.id } };
		await read(api.POST('/api/v1/lab/agent/sessions/{session_id}/pause', { params }));
		await this.load();
	}

	async resume(): Promise<void> {
		const params = { path: { session_id: this.id } };
		await read(api.POST('/api/v1/lab/agent/sessions/{session_id}/resume', { params }));
		await this.load();
	}

	async stop(): Promise<void> {
		const params = { path: { session_id: this.id } };
		await read(api.DELETE('/api/v1/lab/agent/sessions/{session_id}', { params }));
		await this.load();
	}
}
