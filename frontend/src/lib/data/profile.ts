import { cell } from '#lib/format.ts';

/** A column of a profile. The API documents it loosely, so its members are checked here. */
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

type Fields = Record<string, unknown>;
const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

export function readColumn(column: Fields): ColumnProfile {
	const marks = [column.min, column.q25, column.q50, column.q75, column.max];
	const top = Array.isArray(column.top) ? (column.top as Fields[]) : [];
	return {
		name: String(column.name ?? ''),
		type: String(column.type ?? ''),
		hint: String(column.hint ?? ''),
		missing: number(column.missing),
		distinct: number(column.distinct),
		isUnique: column.unique === true,
		top: top.slice(0, 4).map((entry) => ({ value: cell(entry.value, String(column.type)), count: number(entry.count) })),
		days: column.type === 'datetime' ? [cell(column.min, 'datetime'), cell(column.max, 'datetime')] : null,
		quantiles: marks.every((mark) => typeof mark === 'number') ? (marks as number[]) : null
	};
}
