import type { SessionEvent } from '#lib/session/events.ts';

/** Frames of the service; see `docs/api.md`. */
export type Frame =
	| { kind: 'hello' }
	| { kind: 'events'; watch: string; events: SessionEvent[] }
	| { kind: 'ended'; watch: string }
	| { kind: 'refused'; watch: string; code: string }
	| { kind: 'lists'; position: number }
	| { kind: 'problem'; code: string; detail: string; watch?: string }
	| { type: 'heartbeat' };

/** A session from a cursor on, or the lists of the user. */
export type Topic = { session: string; since: number } | { lists: true };

/**
 * What a tab tells the hub. `resume`: the user has signed in. `check`: the tab is seen again, or the network of the machine
 * is another one.
 */
export type TabMessage =
	| { kind: 'watch'; name: string; topic: Topic }
	| { kind: 'unwatch'; name: string }
	| { kind: 'bye' }
	| { kind: 'resume' }
	| { kind: 'check'; isNetworkNew: boolean };

/** `lostSince`: ms since 1970; null while it stands, and while nobody is signed in. */
export interface Connection {
	lostSince: number | null;
	isSignedOut: boolean;
}

/** What the hub tells a tab. */
export type HubMessage = { kind: 'frame'; name: string; frame: Frame } | ({ kind: 'connection' } & Connection);
