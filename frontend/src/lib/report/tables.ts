import type { Schema } from '#lib/api/client.ts';

type Table = Schema<'ReportTable'>;

const PLAIN = { caption: '', file: '', heads: [], kind: 'table', marked: [], numeric: [] } satisfies Partial<Table>;

/** Conditions of the answer, with the score if each holds and if it does not: as in the downloaded report. */
export const assumptionTable = (assumptions: readonly Schema<'Assumption'>[]): Table => ({
	...PLAIN,
	columns: ['Condition', 'If it holds', 'If not'],
	rows: assumptions.map((assumption) => [assumption.text, assumption.holds ?? [], assumption.otherwise ?? []]),
	numeric: [1, 2]
});

/** Branches of the same session: what differs in each, and its answer. */
export const siblingTable = (siblings: readonly Schema<'Sibling'>[]): Table => ({
	...PLAIN,
	columns: ['Study', 'Different in', 'Answer'],
	rows: siblings.map((sibling) => [sibling.name, sibling.difference ?? [], sibling.text ?? []])
});
