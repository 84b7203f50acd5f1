import type { Schema } from '#lib/api/client.ts';

/** A status as the page shows it. */
export type ShownStatus = Schema<'SessionStatus'> | Schema<'RunStatus'> | 'waiting' | 'not_understood';

/** A goal that was not understood is no failure of the crew: other words help. */
export const shownStatus = (session: { status: Schema<'SessionStatus'>; error_code?: string | null }): ShownStatus =>
	session.error_code === 'not_understood' ? 'not_understood' : session.status;

/** Whether a session does nothing more by itself. */
export const hasEnded = (status: Schema<'SessionStatus'>): boolean => ['completed', 'failed', 'cancelled'].includes(status);

/** A sign beside each colour: colour alone says nothing to many. */
export const LOOKS: Readonly<Record<ShownStatus, readonly [sign: string, words: string, tone: string]>> = {
	queued: ['○', 'in line', 'calm'],
	running: ['●', 'running', 'live'],
	awaiting_user: ['?', 'waits for you', 'wait'],
	waiting: ['○', 'waits for its study', 'calm'],
	awaiting_fits: ['●', 'fitting', 'live'],
	paused: ['‖', 'paused', 'calm'],
	cancelling: ['◌', 'stopping', 'calm'],
	completed: ['✓', 'completed', 'good'],
	succeeded: ['✓', 'succeeded', 'good'],
	not_understood: ['?', 'not understood', 'wait'],
	failed: ['✕', 'failed', 'bad'],
	timed_out: ['✕', 'timed out', 'bad'],
	rejected: ['✕', 'rejected', 'bad'],
	cancelled: ['–', 'cancelled', 'calm']
};

/** A status in the words of the page; other texts as they are, without underscores. */
export const statusWords = (status: string): string => LOOKS[status as ShownStatus]?.[1] ?? status.replaceAll('_', ' ');
