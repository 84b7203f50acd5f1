import type { Schema } from '#lib/api/client.ts';

/** A message of the one stream; sockets have heartbeats between the frames. */
export type Frame = Schema<'StreamFrame'> | { type: 'heartbeat' };

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
