import { api, read } from '#lib/api/client.ts';
import { pointerOf } from '#lib/evidence/pointer.ts';
import type { TimelineStep } from '#lib/session/timeline.svelte.ts';

/** The best score after a round of fits: mean and deviation over the folds that are done. */
export interface ScoreRound {
	key: string;
	step: number;
	call: string;
	/** Place of the score in the recorded result. */
	pointer: string;
	name: string;
	metric: string;
	score: number;
	std: number | null;
	folds: number;
	foldCount: number;
}

type Fields = Record<string, unknown>;
const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const list = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fields) : []);
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);

type Scored = Omit<ScoreRound, 'key' | 'step' | 'call'>;

/** Calls that come to a score, between the first fits and the last comparison. */
const isScoring = (tool: string): boolean => tool.startsWith('train_') || tool === 'build_ensemble' || tool === 'compare_models';

/** The best candidate of a comparison, of a round of fits or of an ensemble; null where none has a score. */
function bestOf(result: Fields): Scored | null {
	if (Array.isArray(result.leaderboard)) {
		const rows = list(result.leaderboard);
		const row = rows.findIndex((each) => each.name === result.chosen);
		const best = fields(rows[row]);
		return scored(best, result.metric, pointerOf('leaderboard', row, 'score'), number(best.folds), number(best.fold_count));
	}
	const fits = list(result.fits);
	const candidates = fits.length ? fits : [result];
	const rank = (fit: Fields): number => (number(fit.score) ?? -Infinity) * (fit.greater_is_better === false ? -1 : 1);
	const best = candidates.reduce((one, other) => (number(one.score) === null || rank(other) > rank(one) ? other : one));
	const pointer = fits.length ? pointerOf('fits', fits.indexOf(best), 'score') : pointerOf('score');
	const folds = Array.isArray(best.fold_scores) ? best.fold_scores : [];
	return scored(best, best.metric, pointer, folds.filter((each) => each !== null).length, number(fields(best.folds).count) ?? folds.length);
}

function scored(best: Fields, metric: unknown, pointer: string, folds: number | null, foldCount: number | null): Scored | null {
	const score = number(best.score);
	if (score === null) return null;
	const name = String(best.name);
	return { name, metric: String(metric ?? ''), score, std: number(best.std), pointer, folds: folds ?? 0, foldCount: foldCount ?? 0 };
}

/** Scores of a session's rounds, read from the recorded fits, ensembles and comparisons as they come. */
export class ScoreRounds {
	rounds = $state.raw<ScoreRound[]>([]);
	readonly #session: string;
	readonly #asked = new Set<string>();
	/** Places of calls in their steps: several of a step are answered in any order. */
	readonly #places = new Map<string, number>();

	constructor(session: string) {
		this.#session = session;
	}

	/** Read scores that were not read yet. */
	update(steps: TimelineStep[]): void {
		for (const step of steps) {
			for (const [place, item] of step.items.entries()) {
				if (!isScoring(item.title) || item.call === null || item.failed) continue;
				const key = `${step.step}/${item.call}`;
				if (this.#asked.has(key)) continue;
				this.#asked.add(key);
				this.#places.set(key, place);
				// A number that cannot be read now is left out; the leaderboard at the end has it.
				void this.#read(key, step.step, item.call).catch(() => this.#asked.delete(key));
			}
		}
	}

	async #read(key: string, step: number, call: string): Promise<void> {
		const params = { path: { session_id: this.#session, step, call } };
		const evidence = await read(api.GET('/api/v1/lab/agent/sessions/{session_id}/steps/{step}/calls/{call}', { params }));
		const best = bestOf(fields(evidence.result));
		if (!best) return;
		const round: ScoreRound = { key, step, call, ...best };
		const place = ({ key: each }: ScoreRound): number => this.#places.get(each) ?? 0;
		this.rounds = [...this.rounds, round].sort((one, other) => one.step - other.step || place(one) - place(other));
	}
}
