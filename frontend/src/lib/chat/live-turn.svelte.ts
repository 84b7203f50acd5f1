import { AnswerOrder } from '#lib/api/answer_order.ts';
import { api, asProblem, read, type Problem, type Schema } from '#lib/api/client.ts';
import { plain } from '#lib/format.ts';
import { numberOf, type SessionEvent } from '#lib/session/events.ts';
import { stream } from '#lib/stream/stream.svelte.ts';
import { StreamedAnswer } from '#lib/stream/streamed_answer.ts';

const ENDED: ReadonlySet<Schema<'TurnStatus'>> = new Set(['succeeded', 'failed', 'cancelled']);
const LAST_EVENTS: ReadonlySet<SessionEvent['kind']> = new Set(['session_finished', 'session_failed', 'session_cancelled']);
/** After these kinds the turn itself has changed, and is read again. */
const CHANGES: ReadonlySet<SessionEvent['kind']> = new Set(['clarification_asked', 'clarification_answered', ...LAST_EVENTS]);
/** The second is the former name, in events from before it changed. */
const ASSISTANT_ROLES: ReadonlySet<string> = new Set(['assistant', 'analyst']);
const STAGES: Readonly<Record<string, string>> = {
	received: 'Reading the question',
	queued: 'In line',
	thinking: 'Thinking',
	executing: 'Working'
};

export interface ChatCall {
	id: string;
	name: string;
	status: 'running' | 'ok' | 'refused';
	summary: string;
}

/** One message and its answer while it is made: the words so far, and what was called for it. A turn is a session. */
export class LiveTurn {
	view: Schema<'TurnView'>;
	words = $state('');
	stage = $state('');
	calls = $state<ChatCall[]>([]);
	problem = $state<Problem | null>(null);

	#stop: (() => void) | null = null;
	/** Number of the last recorded event that was taken. */
	#cursor = 0;
	readonly #answer = new StreamedAnswer();
	#frame = 0;
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

	/** Follow it over the one stream of the browser: one of each turn's own would hang in the seventh tab. */
	open(): void {
		this.close();
		this.#stop = stream.watchSession(this.view.turn_id, this.#cursor, {
			onEvents: (events) => events.forEach((event) => this.#take(event)),
			onEnd: () => void this.load()
		});
	}

	close(): void {
		this.#stop?.();
		this.#stop = null;
	}

	#take(event: SessionEvent): void {
		const number = numberOf(event);
		if (number) {
			if (number <= this.#cursor) return;
			this.#cursor = number;
		}
		if (event.kind === 'token') this.#answer.add(event) && this.#drawSoon();
		else if (event.kind === 'message') this.#endAnswer(event.role, event.text);
		else if (event.kind === 'tool_called') this.#call({ ...readCall(event), status: 'running', summary: '' });
		else if (event.kind === 'tool_returned') this.#call({ ...readCall(event), status: event.failed ? 'refused' : 'ok', summary: event.summary });
		else this.#show(event);
		if (LAST_EVENTS.has(event.kind)) this.close();
		if (CHANGES.has(event.kind)) void this.load();
	}

	#show(event: SessionEvent): void {
		// What is called now may be told before the recorded events of the past.
		if (event.kind === 'session_started' && !this.#hasBegun) this.stage = this.#stageText('received');
		else if (event.kind === 'session_queued') this.stage = this.#stageText('queued');
		else if (event.kind === 'step_started') this.stage = this.#stageText('thinking');
		else if (event.kind === 'progress') this.stage = event.text;
	}

	#call(call: ChatCall): void {
		this.#hasBegun = true;
		const place = this.calls.findIndex((each) => each.id === call.id);
		if (place < 0) this.calls.push(call);
		else this.calls[place] = call;
		if (call.status !== 'running') this.stage = `${plain(call.name)}: ${call.summary}`;
		// What was written to be run as it stands needs no name.
		else if (this.view.mode === 'auto') this.stage = plain(call.name);
	}

	/** Words are drawn once a frame, however fast they come. */
	#drawSoon(): void {
		this.#frame ||= requestAnimationFrame(() => [this.#frame, this.words] = [0, this.#answer.text]);
	}

	/** A recorded message has all the words of its answer: those that were missed, too. */
	#endAnswer(role: string, text: string): void {
		this.#answer.clear();
		if (!ASSISTANT_ROLES.has(role)) return;
		cancelAnimationFrame(this.#frame);
		[this.#frame, this.words] = [0, text];
	}

	async load(): Promise<void> {
		const isNext = this.#order.begin();
		try {
			const view = await read(api.GET('/api/v1/turns/{turn_id}', { params: { path: { turn_id: this.view.turn_id } } }));
			if (isNext()) [this.view, this.problem] = [view, null];
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

function readCall(event: { call: string; tool: string }): Pick<ChatCall, 'id' | 'name'> {
	return { id: event.call, name: event.tool };
}
