import { numberOf } from '#lib/session/events.ts';
import type { Connection, Frame, HubMessage, TabMessage, Topic } from '#lib/stream/messages.ts';
import { EventsTransport, SocketTransport, type Transport } from '#lib/stream/transports.ts';

const MIN_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** Sockets that close before a greeting, after which a proxy that cuts them is assumed. */
const MAX_CUT_SOCKETS = 2;
/** After this many milliseconds without a frame a socket is late: the API sends heartbeats every 15 s (`HEARTBEAT_S`). */
const LATE_MS = 20_000;
/** Two heartbeats were missed: the machine slept, or its network is another one, and no close has come. */
const MAX_SILENCE_MS = 35_000;

/** All watches of the lists are one to the service: each of its own would ask the database again and again. */
const LISTS_ID = 'lists';

interface Watch {
	/** The name of the watch to the service. */
	id: string;
	topic: Topic;
	tab: Tab;
	/** The name that the tab gave it. */
	name: string;
}

export interface Tab {
	send: (message: HubMessage) => void;
}

/** The one stream of a browser: the watches of all tabs over one connection, which comes back by itself. */
export class Hub {
	readonly #watches = new Set<Watch>();
	#transport: Transport | null = null;
	#isGreeted = false;
	#cutSockets = 0;
	#retryMs = MIN_RETRY_MS;
	#retry: ReturnType<typeof setTimeout> | undefined;
	#connection: Connection = { lostSince: null, isSignedOut: false };
	#silence: ReturnType<typeof setTimeout> | undefined;
	/** When the last frame came, or the transport was made. */
	#heardAt = 0;
	#count = 0;

	take(tab: Tab, message: TabMessage): void {
		if (message.kind === 'watch') this.#watch(tab, message.name, message.topic);
		else if (message.kind === 'unwatch') this.#unwatch((watch) => watch.tab === tab && watch.name === message.name);
		else if (message.kind === 'bye') this.#unwatch((watch) => watch.tab === tab);
		else if (message.kind === 'check') this.#check(message.isNetworkNew);
		else this.#connectSoon();
	}

	/** A waiting connection is tried at once. One that may be dead is made anew: its own end can take minutes to come. */
	#check(isNetworkNew: boolean): void {
		const isLate = Date.now() - this.#heardAt > LATE_MS;
		// Each tab asks for a check: one that is greeting already was made for the first of them.
		if (this.#transport && (isLate || (isNetworkNew && this.#isGreeted))) this.#disconnect();
		this.#connectSoon();
	}

	#connectSoon(): void {
		if (this.#transport || !this.#watches.size) return;
		this.#retryMs = MIN_RETRY_MS;
		this.#connect();
	}

	#disconnect(): void {
		clearTimeout(this.#silence);
		this.#transport?.close();
		this.#transport = null;
	}

	#watch(tab: Tab, name: string, topic: Topic): void {
		this.#count += 1;
		const id = 'lists' in topic ? LISTS_ID : `w${this.#count}`;
		const isNew = !this.#isWatched(id);
		this.#watches.add({ id, topic, tab, name });
		if (this.#connection.lostSince !== null || this.#connection.isSignedOut) tab.send({ kind: 'connection', ...this.#connection });
		if (!this.#transport) this.#connect();
		else if (isNew) this.#transport.watch(id, topic, this.#topics());
	}

	#unwatch(matches: (watch: Watch) => boolean): void {
		for (const watch of this.#watches) {
			if (!matches(watch)) continue;
			this.#watches.delete(watch);
			if (!this.#isWatched(watch.id)) this.#transport?.unwatch(watch.id);
		}
		if (this.#watches.size) return;
		// Nobody looks: no connection is held, and none is tried.
		clearTimeout(this.#retry);
		this.#disconnect();
		this.#connection = { lostSince: null, isSignedOut: false };
	}

	#isWatched(id: string): boolean {
		return [...this.#watches].some((watch) => watch.id === id);
	}

	#topics(): Map<string, Topic> {
		return new Map([...this.#watches].map((watch) => [watch.id, watch.topic]));
	}

	#connect(): void {
		clearTimeout(this.#retry);
		this.#isGreeted = false;
		const make = this.#cutSockets >= MAX_CUT_SOCKETS ? EventsTransport : SocketTransport;
		const transport = new make(this.#topics(), {
			onFrame: (frame) => {
				if (transport === this.#transport) this.#onFrame(frame);
			},
			onClose: (isSignedOut) => {
				if (transport === this.#transport) this.#onClose(isSignedOut);
			}
		});
		this.#transport = transport;
		this.#heardAt = Date.now();
		this.#watchSilence(transport);
	}

	/** A timer for all frames, which come by thousands: it looks when the last one came. */
	#watchSilence(transport: Transport): void {
		clearTimeout(this.#silence);
		if (!transport.hasHeartbeats) return;
		const restMs = this.#heardAt + MAX_SILENCE_MS - Date.now();
		// Nor longer than that where the clock of the machine was set back.
		if (restMs > 0) this.#silence = setTimeout(() => this.#watchSilence(transport), Math.min(restMs, MAX_SILENCE_MS));
		else {
			this.#disconnect();
			this.#onClose(false);
		}
	}

	#onFrame(frame: Frame): void {
		this.#heardAt = Date.now();
		if (!('kind' in frame)) return;
		if (frame.kind === 'hello') {
			this.#isGreeted = true;
			[this.#cutSockets, this.#retryMs] = [this.#transport instanceof EventsTransport ? this.#cutSockets : 0, MIN_RETRY_MS];
			this.#setConnection({ lostSince: null, isSignedOut: false });
		} else if (frame.kind === 'lists') {
			for (const watch of this.#watches) {
				if ('lists' in watch.topic) watch.tab.send({ kind: 'frame', name: watch.name, frame });
			}
		} else this.#pass(frame);
	}

	#pass(frame: Exclude<Frame, { type: 'heartbeat' } | { kind: 'hello' | 'lists' }>): void {
		const watch = [...this.#watches].find(({ id }) => id === frame.watch);
		if (!watch) return;
		watch.tab.send({ kind: 'frame', name: watch.name, frame });
		if (frame.kind !== 'events') this.#watches.delete(watch);
		else if ('session' in watch.topic) {
			// The cursor from which a lost connection goes on; live events have none.
			watch.topic.since = frame.events.reduce((last, event) => Math.max(last, numberOf(event)), watch.topic.since);
		}
	}

	#onClose(isSignedOut: boolean): void {
		clearTimeout(this.#silence);
		this.#transport = null;
		if (isSignedOut && this.#isGreeted) {
			// The socket's own credential has ended; the browser may have another one by now.
			this.#connect();
			return;
		}
		if (isSignedOut) {
			// The watches stay: they go on from their cursors when the user has signed in again, in whichever tab.
			this.#setConnection({ lostSince: null, isSignedOut: true });
			return;
		}
		if (!this.#isGreeted) this.#cutSockets += 1;
		this.#setConnection({ lostSince: this.#connection.lostSince ?? Date.now(), isSignedOut: false });
		this.#retry = setTimeout(() => this.#connect(), this.#retryMs);
		this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 2);
	}

	#setConnection(connection: Connection): void {
		const { lostSince, isSignedOut } = this.#connection;
		this.#connection = connection;
		if (lostSince === connection.lostSince && isSignedOut === connection.isSignedOut) return;
		for (const tab of new Set([...this.#watches].map((watch) => watch.tab))) tab.send({ kind: 'connection', ...connection });
	}
}
