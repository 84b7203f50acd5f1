import type { Schema } from '#lib/api/client.ts';
import type { SessionProblem } from '#lib/session/metrics.ts';

/** Members of a result that the page draws. The API documents a result loosely, so they are checked here. */
export interface Candidate {
	name: string;
	score: number | null;
	std: number | null;
	fit_s: number | null;
	chosen: boolean;
	baseline: boolean;
	compared: boolean;
	/** The fit ended before its loss stopped falling. */
	cut: boolean;
	collapsed: boolean;
	folds: number | null;
	fold_count: number | null;
}

export interface Bounded {
	value: number;
	low: number | null;
	high: number | null;
}

/** What a column adds to the score, by permutation on rows that were not used in training. */
export interface Importance {
	column: string;
	mean: number;
	low: number | null;
	high: number | null;
	helps: boolean;
}

/** A column that the model does not get, with the scores with and without it where both were measured. */
export interface LeftOut {
	column: string;
	why: string;
	metric: string;
	with: number | null;
	without: number | null;
}

export interface SessionResult {
	headline: string;
	metric: string;
	leaderboard: Candidate[];
	holdout: (Bounded & { rows: number; baseline: number | null }) | null;
	/** The hold-out counts forecasts, several for each row, where each of the next rows is predicted. */
	isForecast: boolean;
	/** Its answer is about rows after the last one. */
	looksAhead: boolean;
	metrics: [string, Bounded][];
	target: string;
	problem: SessionProblem | null;
	drivers: string;
	importances: Importance[];
	leftOut: LeftOut[];
	cautions: string[];
	reportId: string | null;
	reportPageId: string | null;
	notebookId: string | null;
	modelId: string | null;
}

type Fields = Record<string, unknown>;
const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export function readResult(result: Schema<'ResultSummary'>): SessionResult {
	const all = fields(result);
	const report = fields(all.report);
	const holdout = fields(all.holdout);
	const value = number(holdout.value);
	return {
		headline: text(all.headline),
		metric: text(all.metric),
		leaderboard: list(all.leaderboard).map(candidate),
		holdout:
			value === null
				? null
				: {
						value,
						low: number(holdout.low),
						high: number(holdout.high),
						rows: number(holdout.rows) ?? 0,
						baseline: number(holdout.baseline)
					},
		metrics: Object.entries(fields(all.metrics)).flatMap(([name, metric]) => {
			const part = fields(metric);
			const found = number(part.value);
			return found === null ? [] : [[name, { value: found, low: number(part.low), high: number(part.high) }]];
		}),
		target: text(fields(all.problem).target),
		problem: problem(fields(all.problem)),
		isForecast: fields(all.problem).every_step === true,
		looksAhead: number(fields(all.problem).horizon) !== null,
		drivers: text(fields(all.drivers).text),
		importances: list(all.importances).flatMap(importance),
		leftOut: leftOut(all),
		cautions: list(all.cautions).map((caution) => text(caution) || text(fields(caution).text)).filter(Boolean),
		reportId: text(report.json) || null,
		reportPageId: text(report.artifact) || null,
		notebookId: text(all.notebook) || null,
		modelId: text(all.model) || null
	};
}

function problem(part: Fields): SessionProblem | null {
	const target = text(part.target);
	return target ? { target, kind: text(part.kind), classes: list(part.classes).length } : null;
}

function importance(row: unknown): Importance[] {
	const part = fields(row);
	const mean = number(part.mean);
	if (mean === null) return [];
	return [{ column: text(part.column), mean, low: number(part.low), high: number(part.high), helps: part.helps === true }];
}

/** Columns that were excluded by wish or by an assumption, each with what that assumption says. */
function leftOut(all: Fields): LeftOut[] {
	const assumptions = list(all.assumptions).map(fields).filter((part) => part.kind === 'column');
	const assumed = assumptions.filter((part) => part.chosen === 'otherwise').flatMap((part) => list(part.columns));
	const names = new Set([...list(fields(all.problem).exclude), ...assumed].map(text));
	return [...names].filter(Boolean).map((column) => {
		const reason = assumptions.find((part) => list(part.columns).includes(column)) ?? {};
		return {
			column,
			why: text(reason.why).replaceAll('`', ''),
			metric: text(reason.metric),
			with: number(reason.holds_score),
			without: number(reason.otherwise_score)
		};
	});
}

function candidate(row: unknown): Candidate {
	const part = fields(row);
	return {
		name: text(part.name),
		score: number(part.score),
		std: number(part.std),
		fit_s: number(part.fit_s),
		chosen: part.chosen === true,
		baseline: part.baseline === true,
		compared: part.compared !== false,
		cut: part.cut === true,
		collapsed: part.collapsed === true,
		folds: number(part.folds),
		fold_count: number(part.fold_count)
	};
}
