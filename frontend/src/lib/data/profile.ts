import type { Schema } from '#lib/api/client.ts';
import { cell } from '#lib/format.ts';

/** A column of a profile, as it is drawn. */
export interface ColumnProfile {
	name: string;
	type: string;
	hint: string;
	missing: number;
	distinct: number;
	isUnique: boolean;
	top: { value: string; count: number }[];
	/** Minimum, quartiles and maximum of numbers. */
	quantiles: number[] | null;
	/** First and last moment of a column of times. */
	days: [string, string] | null;
}

export function readColumn(column: Schema<'ColumnProfileView'>): ColumnProfile {
	const { name, type, hint, missing, distinct } = column;
	const marks = [column.min, column.q25, column.q50, column.q75, column.max];
	return {
		name, type, hint, missing, distinct,
		isUnique: column.unique,
		top: column.top.slice(0, 4).map((entry) => ({ value: cell(entry.value, type), count: entry.count })),
		days: column.type === 'datetime' ? [cell(column.min, 'datetime'), cell(column.max, 'datetime')] : null,
		quantiles: marks.every((mark) => typeof mark === 'number') ? (marks as number[]) : null
	};
}
