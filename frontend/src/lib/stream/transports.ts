import type { Frame, Topic } from '#lib/stream/messages.ts';

/** Close code of a socket whose user is signed out. */
const NOT_SIGNED_IN = 4401;

export interface Listener {
	onFrame: (frame: Frame) => void;
	onClose: (isSignedOut: boolean) => void;
}

/** A connection to the service. `all`: every topic that is watched now, by the id of its watch. */
export interface Transport {
	/** Something comes at least every 15 s. An event source has heartbeats too, but tells no script of them. */
	readonly hasHeartbeats: boolean;
	watch: (id: string, topic: Topic, all: ReadonlyMap<string, Topic>) => void;
	unwatch: (id: string) => void;
	close: () => void;
}

const command = (id: string, topic: Topic): string =>
	JSON.stringify('session' in topic ? { type: 'watch', watch: id, ...topic } : { type: 'watch_lists', watch: id });

export class SocketTransport implements Transport {
	readonly hasHeartbeats = true;
	readonly #socket: WebSocket;

	constructor(topics: ReadonlyMap<string, Topic>, listener: Listener) {
		const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/api/v1/stream`);
		this.#socket = socket;
		const first = new Map(topics);
		socket.onopen = () => {
			for (const [id, topic] of first) socket.send(command(id, topic));
		};
		socket.onmessage = (message: MessageEvent<string>) => listener.onFrame(JSON.parse(message.data) as Frame);
		socket.onclose = (event) => listener.onClose(event.code === NOT_SIGNED_IN);
		this.watch = (id, topic) => {
			if (socket.readyState === WebSocket.OPEN) socket.send(command(id, topic));
			else first.set(id, topic);
		};
	}

	watch: Transport['watch'];

	unwatch(id: string): void {
		if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ type: 'unwatch', watch: id }));
	}

	close(): void {
		this.#socket.close();
	}
}

/** Server-sent events, for where sockets are cut: another set of watches is another request, from their cursors. */
export class EventsTransport implements Transport {
	readonly hasHeartbeats = false;
	readonly #listener: Listener;
	#source: EventSource;
	#next: ReturnType<typeof setTimeout> | undefined;

	constructor(topics: ReadonlyMap<string, Topic>, listener: Listener) {
		this.#listener = listener;
		this.#source = this.#open(topics);
	}

	#open(topics: ReadonlyMap<string, Topic>): EventSource {
		const query = new URLSearchParams();
		for (const [id, topic] of topics) {
			if ('session' in topic) query.append('watch', `${id}:${topic.session}:${topic.since}`);
			else query.set('lists', id);
		}
		const source = new EventSource(`/api/v1/events?${query}`);
		source.addEventListener('frame', (message: MessageEvent<string>) => this.#listener.onFrame(JSON.parse(message.data) as Frame));
		source.onerror = () => {
			// Not the browser's own retry: it would ask again from the former cursors.
			source.close();
			this.#listener.onClose(false);
		};
		return source;
	}

	watch(_id: string, _topic: Topic, all: ReadonlyMap<string, Topic>): void {
		// Several watches that begin together are one request.
		clearTimeout(this.#next);
		this.#next = setTimeout(() => {
			this.#source.close();
			this.#source = this.#open(all);
		}, 0);
	}

	unwatch(): void {
		// Frames of a watch that nobody has any more are dropped; the next request leaves it out.
	}

	close(): void {
		clearTimeout(this.#next);
		this.#source.close();
	}
}
