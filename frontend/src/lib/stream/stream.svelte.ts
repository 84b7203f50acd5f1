import { numberOf, type SessionEvent } from '#lib/session/events.ts';
import { Hub, type Tab } from '#lib/stream/hub.ts';
import type { Frame, HubMessage, TabMessage, Topic } from '#lib/stream/messages.ts';
import hubAddress from '#lib/stream/hub.worker.ts?sharedworker&url';

interface Handler {
	topic: Topic;
	onFrame: (frame: Frame) => void;
}

export interface SessionHandler {
	onEvents: (events: SessionEvent[]) => void;
	/** No further event can come: the session is over, or there is none. */
	onEnd: () => void;
}

/** This tab's end of the browser's stream. */
class Stream {
	/** The time since which the connection is cut; null while it stands. */
	lostSince = $state<Date | null>(null);
	/** The service has ended the stream, because nobody is signed in any more. */
	isSignedOut = $state(false);
	readonly #handlers = new Map<string, Handler>();
	#send: ((message: TabMessage) => void) | null = null;
	#count = 0;

	constructor() {
		// After sleep a socket looks open: nothing tells of its end but that nothing comes.
		addEventListener('online', () => this.#send?.({ kind: 'check', isNetworkNew: true }));
		addEventListener('visibilitychange', () => {
			if (document.visibilityState === 'visible') this.#send?.({ kind: 'check', isNetworkNew: false });
		});
		// A page that the browser keeps for "back" gets its watches again when it is shown.
		addEventListener('pagehide', () => this.#send?.({ kind: 'bye' }));
		addEventListener('pageshow', (event) => {
			if (event.persisted) for (const [name, { topic }] of this.#handlers) this.#send?.({ kind: 'watch', name, topic });
		});
	}

	/** Watch a session from a cursor on; returns the function that ends it. */
	watchSession(session: string, since: number, handler: SessionHandler): () => void {
		const topic = { session, since };
		return this.#watch(topic, (frame) => {
			if (!('kind' in frame)) return;
			if (frame.kind === 'events') {
				topic.since = frame.events.reduce((last, event) => Math.max(last, numberOf(event)), topic.since);
				handler.onEvents(frame.events);
			} else handler.onEnd();
		});
	}

	/** Call a function after each change of the user's sessions. */
	watchLists(onChange: () => void): () => void {
		return this.#watch({ lists: true }, onChange);
	}

	/** Go on with all watches: the user has signed in, in this tab or another. */
	resume(): void {
		this.#send?.({ kind: 'resume' });
	}

	#watch(topic: Topic, onFrame: Handler['onFrame']): () => void {
		this.#count += 1;
		const name = `t${this.#count}`;
		this.#handlers.set(name, { topic, onFrame });
		this.#connected({ kind: 'watch', name, topic: { ...topic } });
		return () => {
			this.#handlers.delete(name);
			this.#send?.({ kind: 'unwatch', name });
		};
	}

	#connected(message: TabMessage): void {
		this.#send ??= connect((answer) => this.#take(answer));
		this.#send(message);
	}

	#take(message: HubMessage): void {
		if (message.kind === 'connection') {
			this.lostSince = message.lostSince === null ? null : new Date(message.lostSince);
			this.isSignedOut = message.isSignedOut;
		} else this.#handlers.get(message.name)?.onFrame(message.frame);
	}
}

/** Connect to the browser's shared worker; where there is none, to a hub of this tab's own. */
function connect(onMessage: (message: HubMessage) => void): (message: TabMessage) => void {
	if (typeof SharedWorker === 'undefined') {
		const [hub, tab]: [Hub, Tab] = [new Hub(), { send: onMessage }];
		return (message) => hub.take(tab, message);
	}
	const worker = new SharedWorker(trusted(hubAddress), { type: 'module', name: 'labcrew' });
	worker.port.onmessage = (event: MessageEvent<HubMessage>) => onMessage(event.data);
	worker.port.start();
	return (message) => worker.port.postMessage(message);
}

interface TrustedTypes {
	createPolicy: (name: string, rules: { createScriptURL: (address: string) => string }) => { createScriptURL: (address: string) => string };
}

/** Let one address of the build be a script: the policy of the page allows no other. */
function trusted(address: string): string {
	const types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
	if (!types) return address;
	const rules = {
		createScriptURL: (given: string) => {
			if (given !== hubAddress) throw new TypeError('Only the worker of the stream may be loaded.');
			return given;
		}
	};
	return types.createPolicy('labcrew-stream', rules).createScriptURL(address);
}

export const stream = new Stream();
