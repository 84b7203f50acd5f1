import type { Frame, HubMessage, TabMessage, Topic } from '#lib/stream/messages.ts';
import { EventsTransport, SocketTransport, type Transport } from '#lib/stream/transports.ts';

const MIN_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** Sockets that close before a greeting, after which a proxy that cuts them is assumed. */
const MAX_CUT_SOCKETS = 2;

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
	#lostSince: number | null = null;
	#count = 0;

	take(tab: Tab, message: TabMessage): void {
		if (message.kind === 'watch') this.#watch(tab, message.name, message.topic);
		else if (message.kind === 'unwatch') this.#unwatch((watch) => watch.tab === tab && watch.name === message.name);
		else this.#unwatch((watch) => watch.tab === tab);
	}

	#watch(tab: Tab, name: string, topic: Topic): void {
		this.#count += 1;
		const id = 'lists' in topic ? LISTS_ID : `w${this.#count}`;
		const isNew = !this.#isWatched(id);
		this.#watches.add({ id, topic, tab, name });
		if (this.#lostSince !== null) tab.send({ kind: 'connection', lostSince: this.#lostSince });
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
		this.#transport?.close();
		[this.#transport, this.#lostSince] = [null, null];
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
	}

	#onFrame(frame: Frame): void {
		if (!('kind' in frame)) return;
		if (frame.kind === 'hello') {
			this.#isGreeted = true;
			[this.#cutSockets, this.#retryMs] = [this.#transport instanceof EventsTransport ? this.#cutSockets : 0, MIN_RETRY_MS];
			this.#setLost(null);
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
			watch.topic.since = frame.events.reduce((last, event) => Math.max(last, event.seq ?? 0), watch.topic.since);
		}
	}

	#onClose(isSignedOut: boolean): void {
		this.#transport = null;
		if (isSignedOut) {
			this.#watches.clear();
			return;
		}
		if (!this.#isGreeted) this.#cutSockets += 1;
		this.#setLost(this.#lostSince ?? Date.now());
		this.#retry = setTimeout(() => this.#connect(), this.#retryMs);
		this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 2);
	}

	#setLost(since: number | null): void {
		if (since === this.#lostSince) return;
		this.#lostSince = since;
		for (const tab of new Set([...this.#watches].map((watch) => watch.tab))) {
			tab.send({ kind: 'connection', lostSince: since });
		}
	}
}
