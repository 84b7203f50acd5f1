import type { SessionEvent } from '#lib/session/events.ts';

const WAITS: Readonly<Record<string, 'begins' | 'ends'>> = {
	clarification_asked: 'begins',
	clarification_answered: 'ends',
	session_paused: 'begins',
	session_resumed: 'ends'
};

/**
 * How long the steps of a session worked: from the end of the step before, its fits included, without the time that it waited
 * for its user. An event's own duration is that of the last drive of a step, which its fits do not belong to.
 */
export class StepClock {
	#began: number | null = null;
	#waitBegan: number | null = null;
	#waited = 0;

	/** Take the next event; the seconds of a step that it ends, else null. */
	read(event: SessionEvent): number | null {
		const at = event.created_at ? Date.parse(event.created_at) : null;
		const wait = WAITS[event.kind];
		if (wait === 'begins') this.#waitBegan ??= at;
		else if (wait === 'ends') this.#endWait(at);
		else if (event.kind === 'session_started' || event.kind === 'session_forked') this.#began = at;
		else if (event.kind === 'step_finished') return this.#endStep(at, event.duration_ms / 1000);
		return null;
	}

	#endWait(at: number | null): void {
		if (this.#waitBegan !== null && at !== null) this.#waited += at - this.#waitBegan;
		this.#waitBegan = null;
	}

	#endStep(at: number | null, drive: number): number {
		const whole = at === null || this.#began === null ? null : (at - this.#began - this.#waited) / 1000;
		[this.#began, this.#waited] = [at, 0];
		return Math.max(drive, whole ?? 0);
	}
}
