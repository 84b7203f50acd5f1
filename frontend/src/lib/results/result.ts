import type { Schema } from '#lib/api/client.ts';

/** A result as it is shown everywhere: in a conversation, a session, a run of a program and one of a workflow. */
export interface Result {
	/** The session, turn or run whose recorded calls are its evidence; null where none are kept for it. */
	session: string | null;
	/** Whether a call of this session belongs to the result, where it made others too. */
	isOwnCall?: (node: string, call: string) => boolean;
	charts?: readonly Pick<Schema<'ChartView'>, 'id' | 'title' | 'problem'>[];
	/** A drawing of the report, by the id of its file. */
	picture?: { id: string; title: string } | null;
	table?: Schema<'TableView'> | null | undefined;
	output?: string | null | undefined;
	errors?: string | null | undefined;
	sql?: string | null | undefined;
	code?: string | null | undefined;
	files?: readonly { id: string; name: string; kind: string }[];
}

/** What a turn of a conversation has come to. */
export function turnResult(turn: Schema<'TurnView'>): Result {
	const charts = turn.charts ?? [];
	const shownElsewhere = new Set([turn.table?.artifact, ...charts.map((chart) => chart.id)]);
	return {
		session: turn.turn_id,
		charts,
		table: turn.table,
		output: turn.stdout,
		sql: turn.sql,
		code: turn.code,
		files: (turn.artifacts ?? []).filter((artifact) => !shownElsewhere.has(artifact.id))
	};
}

/** What a program or query of a user has come to. Its own text is the code; of a query plan so is the SQL that it became. */
export function runResult(run: Schema<'RunView'>): Result {
	const isSql = run.language === 'sql';
	const types = new Map(typedColumns(run.outcome?.['columns']).map((column) => [column.name, column]));
	const table = run.table && {
		...run.table,
		columns: run.table.columns.map((name) => types.get(name) ?? ({ name } as Schema<'AnswerColumn'>)),
		artifact: run.artifacts?.find((artifact) => artifact.kind === 'frame' && artifact.name === 'result')?.id ?? null
	};
	return {
		session: run.id,
		table,
		output: run.stdout,
		errors: run.stderr,
		sql: isSql ? run.code : run.compiled_sql,
		code: isSql ? null : run.code
	};
}

/** What a node of a workflow has come to in a run: its rows, and the chart that it drew. */
export function nodeResult(run: string, id: string, node: Schema<'NodeResult'>, chart: string | undefined): Result {
	const [columns, rows] = [typedColumns(node.columns), node.preview ?? []];
	const row_count = node.rows ?? rows.length;
	return {
		session: run,
		isOwnCall: (_, call) => call === `tool:${id}` || call.startsWith(`tool:${id}:`),
		charts: chart ? [{ id: chart, title: id, problem: null }] : [],
		table: rows.length ? { columns, rows, row_count, truncated: row_count > rows.length } : null
	};
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
const asCount = (value: unknown): number | null => (typeof value === 'number' ? value : null);

function typedColumns(columns: unknown): Schema<'AnswerColumn'>[] {
	return Array.isArray(columns) ? columns.filter(isObject).map(({ name, type }) => ({ name: asText(name), type: asText(type) })) : [];
}

/**
 * The rows that answer the question of a session, from its stored result: null where its answer is a model or a sentence.
 * `artifact`: the table of all rows, once it is known.
 */
export function answerResult(session: string, answer: unknown, artifact: string | null): Result | null {
	if (!isObject(answer) || !Array.isArray(answer['rows'])) return null;
	const [columns, rows] = [typedColumns(answer['columns']), answer['rows'].filter((row): row is unknown[] => Array.isArray(row))];
	if (!columns.length) return null;
	const table = {
		columns,
		rows,
		row_count: asCount(answer['row_count']) ?? rows.length,
		truncated: answer['truncated'] === true,
		artifact,
		rows_used: asCount(answer['rows_used']),
		rows_there: asCount(answer['total_rows'])
	};
	const [text, isSql] = [asText(answer['code']), answer['language'] === 'sql'];
	return { session, isOwnCall: (node) => node === 'answering', table, sql: isSql ? text : '', code: isSql ? '' : text };
}

/** Drawings that show the answer of a model, the telling ones first. */
const ANSWER_PICTURES = ['forecast.svg', 'confusion.svg', 'predicted_vs_actual.svg', 'roc.svg'];

/** What a model has come to: the drawing of its answer, and the rows that it forecasts. */
export function modelResult(session: string, files: readonly Schema<'ArtifactView'>[], forecasts: Result['table']): Result | null {
	const picture = ANSWER_PICTURES.flatMap((name) => files.filter((file) => file.name === name))[0];
	if (!picture && !forecasts) return null;
	const title = picture?.name === 'forecast.svg' ? 'Known values and forecasts with their interval' : asText(picture?.meta?.['title']);
	return {
		session,
		isOwnCall: (node) => node === 'final_evaluation',
		picture: picture ? { id: picture.id, title: title || 'Drawing of the answer' } : null,
		table: forecasts
	};
}

/** What a request in words has come to. */
export function jobResult(job: Schema<'JobView'>): Result | null {
	const preview = job.answer?.result_preview ?? {};
	const [columns, rows] = [typedColumns(preview['columns']), preview['rows']];
	const row_count = asCount(preview['row_count']) ?? 0;
	const table = Array.isArray(rows) && columns.length > 0;
	const charts = (Array.isArray(preview['charts']) ? preview['charts'] : []) as NonNullable<Result['charts']>;
	if (!table && !preview['sql'] && !charts.length) return null;
	const artifact = job.answer?.result_ref?.replace('artifact://', '') ?? null;
	return {
		session: null,
		charts,
		table: table ? { columns, rows: rows as unknown[][], row_count, truncated: preview['truncated'] === true, artifact } : null,
		sql: asText(preview['sql'])
	};
}
