import type { Schema } from '#lib/api/client.ts';
import type { SessionProblem } from '#lib/session/metrics.ts';

export type Candidate = Schema<'CandidateScoreView'>;
export type Importance = Schema<'ImportanceView'> & { mean: number };

export interface Bounded {
	value: number;
	low: number | null;
	high: number | null;
}

/** A column that the model does not get, with the scores with and without it where both were measured. */
export interface LeftOut {
	column: string;
	why: string;
	metric: string;
	with: number | null;
	without: number | null;
}

export interface Holdout extends Bounded {
	rows: number;
	baseline: number | null;
	/** How often this session opened it, and how often it and the studies that it is a fork of did; null: not recorded. */
	openings: number | null;
	looks: number | null;
}

/** A result as it is drawn. */
export interface SessionResult {
	headline: string;
	/** What the answer is of use for; its tone is `good`, `bad` or one between. Null where there is no such judgement. */
	verdict: { tone: string; text: string } | null;
	metric: string;
	/** Methods that make the forecast in place of every candidate; empty where the model does. */
	forecaster: string;
	leaderboard: Candidate[];
	holdout: Holdout | null;
	/** The hold-out counts forecasts, several for each row, where each of the next rows is predicted. */
	isForecast: boolean;
	metrics: [string, Bounded][];
	target: string;
	problem: SessionProblem | null;
	drivers: string;
	importances: Importance[];
	leftOut: LeftOut[];
	/** What the score rests on, with the score if it is otherwise: "2.9 for known storms, 6.3 for new ones". */
	conditions: string[];
	cautions: string[];
	/** What was repaired and left out when the files were read. */
	fileNotes: string[];
	/** The stored answer to a question about rows; null where a model was asked for. */
	answer: unknown;
	reportId: string | null;
	reportPageId: string | null;
	notebookId: string | null;
	modelId: string | null;
}

export function readResult(result: Schema<'ResultSummary'>): SessionResult {
	const { holdout, problem, report } = result;
	return {
		headline: result.headline ?? '',
		verdict: result.verdict?.text ? { tone: result.verdict.tone, text: result.verdict.text } : null,
		forecaster: otherForecaster(result),
		metric: result.metric ?? '',
		leaderboard: result.leaderboard,
		holdout: isBounded(holdout) ? readHoldout(holdout) : null,
		metrics: Object.entries(result.metrics).flatMap(([name, part]) => (isBounded(part) ? [[name, part]] : [])),
		target: problem?.target ?? '',
		problem: problem && { target: problem.target, kind: problem.kind ?? '', classes: problem.classes?.length ?? 0 },
		isForecast: problem?.every_step ?? false,
		drivers: result.drivers?.text ?? '',
		importances: result.importances.filter((row): row is Importance => row.mean !== null),
		leftOut: leftOut(result),
		conditions: result.conditions,
		fileNotes: result.file_notes,
		cautions: result.cautions,
		answer: result['answer'] ?? null,
		reportId: report?.json ?? null,
		reportPageId: report?.artifact ?? null,
		notebookId: result.notebook,
		modelId: result.model
	};
}

function readHoldout({ value, low, high, rows, baseline, openings, looks }: Schema<'HoldoutScoreView'> & Bounded): Holdout {
	return { value, low, high, rows: rows ?? 0, baseline, openings, looks };
}

/** What makes the forecast where it is no candidate: classical methods, which have no row of the leaderboard. */
function otherForecaster({ forecaster, leaderboard, model_name }: Schema<'ResultSummary'>): string {
	const models = [model_name, ...leaderboard.map((row) => row.name)];
	return forecaster && !models.includes(forecaster) ? forecaster : '';
}

const isBounded = <Part extends Schema<'ScoreView'>>(part: Part | null): part is Part & Bounded => part?.value != null;

/** Columns that were excluded by wish or by an assumption, each with what that assumption says. */
function leftOut(result: Schema<'ResultSummary'>): LeftOut[] {
	const assumptions = result.assumptions.filter((part) => part.kind === 'column');
	const assumed = assumptions.filter((part) => part.chosen === 'otherwise').flatMap((part) => part.columns);
	const names = new Set([...(result.problem?.exclude ?? []), ...assumed]);
	return [...names].map((column) => {
		const reason = assumptions.find((part) => part.columns.includes(column));
		return {
			column,
			why: reason?.why.replaceAll('`', '') ?? '',
			metric: reason?.metric ?? '',
			with: reason?.holds_score ?? null,
			without: reason?.otherwise_score ?? null
		};
	});
}
