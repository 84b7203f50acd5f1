import { api, read } from '#lib/api/client.ts';
import type { TimelineStep } from '#lib/session/timeline.svelte.ts';

/** The best score after a round of fits: mean and deviation over the folds that are done. */
export interface ScoreRound {
	key: string;
	step: number;
	call: string;
	/** Position of the row in the recorded leaderboard. */
	row: number;
	name: string;
	metric: string;
	score: number;
	std: number | null;
	folds: number;
	foldCount: number;
}

type Fields = Record<string, unknown>;
const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** Scores of a session's rounds, read from the recorded comparisons as they come. */
export class ScoreRounds {
	rounds = $state.raw<ScoreRound[]>([]);
	readonly #session: string;
	readonly #asked = new Set<string>();

	constructor(session: string) {
		this.#session = session;
	}

	/** Read comparisons that were not read yet. */
	update(steps: TimelineStep[]): void {
		for (const step of steps) {
			for (const item of step.items) {
				if (item.title !== 'compare_models' || item.call === null || item.failed) continue;
				const key = `${step.step}/${item.call}`;
				if (this.#asked.has(key)) continue;
				this.#asked.add(key);
				// A number that cannot be read now is left out; the leaderboard at the end has it.
				void this.#read(key, step.step, item.call).catch(() => this.#asked.delete(key));
			}
		}
	}

	async #read(key: string, step: number, call: string): Promise<void> {
		const params = { path: { session_id: this.#session, step, call } };
		const evidence = await read(api.GET('/api/v1/lab/agent/sessions/{session_id}/steps/{step}/calls/{call}', { params }));
		const result = fields(evidence.result);
		const rows = Array.isArray(result.leaderboard) ? result.leaderboard.map(fields) : [];
		const row = rows.findIndex((each) => each.name === result.chosen);
		const [best, score] = [fields(rows[row]), number(fields(rows[row]).score)];
		if (score === null) return;
		const round: ScoreRound = {
			key,
			step,
			call,
			row,
			name: String(best.name),
			metric: String(result.metric ?? ''),
			score,
			std: number(best.std),
			folds: number(best.folds) ?? 0,
			foldCount: number(best.fold_count) ?? 0
		};
		this.rounds = [...this.rounds, round].sort((one, other) => one.step - other.step);
	}
}
