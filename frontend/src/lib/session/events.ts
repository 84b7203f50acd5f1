/** Events of a session that the page shows; see `backend/app/sessions/events/events.py`. */
export interface Understood {
	kind: 'understood';
	text: string;
	target: string | null;
	tables: string[];
	confidence: number;
	alternatives: string[];
}

interface Numbered {
	seq?: number;
	/** Of recorded events. */
	created_at?: string;
}

export type SessionEvent = Numbered &
	(
		| Understood
		| { kind: 'session_started'; goal: string }
		| { kind: 'session_forked'; source: string; steps: number; notes: string[] }
		| { kind: 'session_queued'; position: number; length: number }
		| { kind: 'plan_made'; steps: string[]; notes: string[] }
		| { kind: 'step_started'; step: number; node: string }
		| { kind: 'step_finished'; step: number; node: string; duration_ms: number }
		| { kind: 'tool_called'; step: number; agent: string; tool: string; call: string }
		| {
				kind: 'tool_returned';
				step: number;
				agent: string;
				tool: string;
				call: string;
				summary: string;
				failed: boolean;
				duration_ms: number;
		  }
		| { kind: 'message'; step: number; role: string; text: string }
		| { kind: 'clarification_asked'; question: string; text: string }
		| { kind: 'clarification_answered'; question: string; answer: unknown; by: 'user' | 'default' }
		| { kind: 'artifact_saved'; step: number; artifact: string; name: string }
		| { kind: 'fit_finished'; round: string; candidate: number; name: string; status: string; summary: string }
		| { kind: 'budget_warning'; budget: string; used: number; limit: number }
		| { kind: 'session_paused' }
		| { kind: 'session_resumed' }
		| { kind: 'session_finished' }
		| { kind: 'session_failed'; code: string; detail: string }
		| { kind: 'session_cancelled' }
		| { kind: 'progress'; step: number; text: string; fraction: number | null }
		| { kind: 'token'; step: number; agent: string; answer: number; start: number; text: string }
	);

/** After these kinds the session itself has changed, and is read again. */
export const CHANGES: ReadonlySet<SessionEvent['kind']> = new Set([
	'session_started', 'session_queued', 'clarification_asked', 'clarification_answered', 'step_finished',
	'budget_warning', 'session_paused', 'session_resumed', 'session_finished', 'session_failed', 'session_cancelled'
]);
