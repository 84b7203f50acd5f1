import { api, read } from '#lib/api/client.ts';
import type { CallReference } from '#lib/evidence/context.ts';

/** The two scores between which a question about a condition decides. */
export interface AssumptionScores {
	metric: string;
	holds: Scored;
	otherwise: Scored;
	rows: number;
}

export interface Scored {
	/** The answer that leads to this score. */
	option: string;
	score: number;
	low: number | null;
	high: number | null;
	/** The place of the score in the recorded result. */
	pointer: string;
}

type Fields = Record<string, unknown>;
const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** Read the scores behind a question from the recorded call that measured them; null if it measured none. */
export async function readAssumption(session_id: string, from: CallReference, question: string): Promise<AssumptionScores | null> {
	const params = { path: { session_id, step: from.step, call: from.call } };
	const evidence = await read(api.GET('/api/v1/lab/agent/sessions/{session_id}/steps/{step}/calls/{call}', { params }));
	const all = fields(evidence.result).assumptions;
	const assumptions = Array.isArray(all) ? all.map(fields) : [];
	const place = assumptions.findIndex((each) => each.question === question);
	const found = fields(assumptions[place]);
	const [holds, otherwise] = [scored(found, 'holds', place), scored(found, 'otherwise', place)];
	if (!holds || !otherwise) return null;
	return { metric: String(found.metric ?? ''), holds, otherwise, rows: number(found.rows) ?? 0 };
}

function scored(assumption: Fields, side: 'holds' | 'otherwise', place: number): Scored | null {
	const score = number(assumption[`${side}_score`]);
	const interval = fields(assumption[`${side}_interval`]);
	const option = fields(assumption.options)[side];
	if (score === null || typeof option !== 'string') return null;
	const pointer = `/assumptions/${place}/${side}_score`;
	return { option, score, low: number(interval.low), high: number(interval.high), pointer };
}
