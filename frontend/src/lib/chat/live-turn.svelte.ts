import { AnswerOrder } from '#lib/api/answer_order.ts';
import { api, asProblem, read, type Problem, type Schema } from '#lib/api/client.ts';
import { plain } from '#lib/format.ts';

const ENDED: ReadonlySet<Schema<'TurnStatus'>> = new Set(['succeeded', 'failed', 'interrupted', 'cancelled']);
const EVENTS = ['status', 'token', 'tool_call', 'tool_result', 'clarification', 'approval', 'done'] as const;
const STAGES: Readonly<Record<string, string>> = {
	received: 'Reading the question',
	queued: 'In line',
	thinking: 'Thinking',
	executing: 'Working'
};
const RECONNECT_MS = 2000;

export interface ChatCall {
	id: string;
	name: string;
	status: 'running' | 'ok' | 'refused';
	summary: string;
}

/** One message and its answer while it is made: the words so far, and what was called for it. */
export class LiveTurn {
	view: Schema<'TurnView'>;
	words = $state('');
	stage = $state('');
	calls = $state<ChatCall[]>([]);
	problem = $state<Problem | null>(null);
	lostSince = $state<Date | null>(null);

	#source: EventSource | null = null;
	#again: ReturnType<typeof setTimeout> | undefined;
	#unshown = '';
	/** Something was called for it already. */
	#hasBegun = false;
	readonly #order = new AnswerOrder();

	constructor(view: Schema<'TurnView'>) {
		this.view = $state.raw(view);
		this.stage = view.status === 'waiting' ? 'Waiting for the answer before it' : this.#stageText(view.queue ? 'queued' : 'received');
	}

	/** A program or query is run as it stands: there is no question in it to be read. */
	#stageText(stage: string): string {
		return stage === 'received' && this.view.mode !== 'auto' ? 'Running it' : (STAGES[stage] ?? this.stage);
	}

	get isOver(): boolean {
		return ENDED.has(this.view.status);
	}

	open(): void {
		this.close();
		const source = new EventSource(`/api/v1/turns/${this.view.turn_id}/events`);
		this.#source = source;
		source.onopen = () => {
			// The events come again from the first one: words that were shown are not shown twice.
			[this.lostSince, this.words, this.#unshown, this.calls] = [null, '', '', []];
		};
		for (const kind of EVENTS) {
			source.addEventListener(kind, (message: MessageEvent<string>) => this.#take(kind, JSON.parse(message.data)));
		}
		source.onerror = (event) => {
			// A failure that the turn itself reports has the same name as a lost connection; `done` follows it.
			if (!(event instanceof MessageEvent)) this.#onLost();
		};
	}

	close(): void {
		this.#source?.close();
		this.#source = null;
		clearTimeout(this.#again);
		this.#again = undefined;
	}

	/** A new source from the first event: a live word has no number to go on from. */
	#onLost(): void {
		this.close();
		this.lostSince ??= new Date();
		const again = setTimeout(async () => {
			await this.load();
			// It was closed meanwhile, or opened by somebody else.
			if (this.#again === again && !this.isOver) this.open();
		}, RECONNECT_MS);
		this.#again = again;
	}

	#take(kind: (typeof EVENTS)[number], event: Record<string, unknown>): void {
		if (kind === 'status') this.#show(String(event.stage), event.text);
		else if (kind === 'token') this.#addWords(String(event.text));
		else if (kind === 'tool_call') this.#call({ ...readCall(event), status: 'running', summary: '' });
		else if (kind === 'tool_result') this.#call(readCall(event));
		else {
			if (kind === 'done') this.close();
			void this.load();
		}
	}

	/** After a lost connection the events come again from the first one, and a call that still runs is not among them. */
	#show(stage: string, text: unknown): void {
		if (stage === 'received' && this.#hasBegun) return;
		this.stage = String(text ?? this.#stageText(stage));
	}

	#call(call: ChatCall): void {
		this.#hasBegun = true;
		const place = this.calls.findIndex((known) => known.id === call.id);
		if (place < 0) this.calls.push(call);
		else this.calls[place] = call;
		if (call.status !== 'running') this.stage = `${plain(call.name)}: ${call.summary}`;
		// What was written to be run as it stands needs no name.
		else if (this.view.mode === 'auto') this.stage = plain(call.name);
	}

	/** Words are drawn once a frame, however fast they come. */
	#addWords(text: string): void {
		if (!this.#unshown) {
			requestAnimationFrame(() => {
				this.words += this.#unshown;
				this.#unshown = '';
			});
		}
		this.#unshown += text;
	}

	async load(): Promise<void> {
		const isNext = this.#order.begin();
		try {
			const view = await read(api.GET('/api/v1/turns/{turn_id}', { params: { path: { turn_id: this.view.turn_id } } }));
			if (isNext()) [this.view, this.problem, this.lostSince] = [view, null, null];
		} catch (error) {
			if (isNext()) this.problem = asProblem(error);
		}
	}

	async answer(question: string, answer: Schema<'JsonValue'>): Promise<void> {
		const params = { path: { session_id: this.view.turn_id } };
		await read(api.POST('/api/v1/lab/agent/sessions/{session_id}/respond', { params, body: { question, answer } }));
		await this.load();
	}

	async stop(): Promise<void> {
		const params = { path: { session_id: this.view.turn_id } };
		await read(api.DELETE('/api/v1/lab/agent/sessions/{session_id}', { params }));
		await this.load();
	}
}

function readCall(event: Record<string, unknown>): ChatCall {
	const status = event.status === 'refused' ? 'refused' : 'ok';
	return { id: String(event.id), name: String(event.name), status, summary: String(event.summary ?? '') };
}
