import type { Schema } from '#lib/api/client.ts';

export type SessionEvent = Schema<'SessionEvent'>;
export type Understood = Pick<Schema<'GoalUnderstood'>, 'text' | 'alternatives'>;

/** The number of an event; 0 for live events, which have none. */
export const numberOf = (event: SessionEvent): number => ('seq' in event ? event.seq : 0);

/** After these kinds the session itself has changed, and is read again. */
export const CHANGES: ReadonlySet<SessionEvent['kind']> = new Set<SessionEvent['kind']>([
	'session_started', 'session_queued', 'clarification_asked', 'clarification_answered', 'step_finished',
	'budget_warning', 'session_paused', 'session_resumed', 'session_finished', 'session_failed', 'session_cancelled'
]);
