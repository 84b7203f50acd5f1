import type { Schema } from '#lib/api/client.ts';
import { cell, count } from '#lib/format.ts';

export type Distribution = Schema<'ColumnSummary'>;

/** Whole numbers with all digits, as in the cells; others with those that tell them apart at a glance. */
const short = (value: unknown, type: string): string =>
	typeof value !== 'number' ? cell(value, type) : type === 'integer' ? count(value) : value.toLocaleString('en', { maximumSignificantDigits: 4 });
/** The range of days needs no times. */
const extreme = (value: unknown, type: string): string => short(typeof value === 'string' ? value.slice(0, 10) : value, type);
const percent = (part: number, whole: number): string => {
	const share = (part / Math.max(1, whole)) * 100;
	return `${share > 0 && share < 1 ? '< 1' : Math.round(share)} %`;
};

/** Of a column where most rows have their own value, none is common. */
const isRepeated = (column: Distribution, rows: number): boolean => column.distinct < rows / 2;

/** The least that names a distribution: from where to where, or the commonest value. */
export function caption(column: Distribution, rows: number): string {
	if (column.edges.length) {
		const [first, last] = [extreme(column.low, column.type), extreme(column.high, column.type)];
		return first === last ? first : `${first} to ${last}`;
	}
	const [commonest] = column.top;
	// The value last: it may be long, and is cut where the column is narrow.
	if (commonest && isRepeated(column, rows)) return `${percent(commonest.count, rows)} ${short(commonest.value, column.type)}`;
	return column.distinct ? `${count(column.distinct)} different` : 'no values';
}

/** A distribution in words. */
export function describe(column: Distribution, rows: number): string {
	const values = isRepeated(column, rows) ? column.top : [];
	const parts = column.edges.length
		? [caption(column, rows)]
		: values.map((entry) => `${percent(entry.count, rows)} ${short(entry.value, column.type)}`);
	if (column.distinct > values.length) parts.push(`${count(column.distinct)} different values`);
	if (column.missing) parts.push(`${percent(column.missing, rows)} missing`);
	return parts.join(', ');
}

/** The outline of a histogram in a box of one unit a bin and height 1. Bins with few cells stay visible. */
export function outline(counts: readonly number[]): string {
	const highest = Math.max(1, ...counts);
	return counts
		.map((each, place) => (each ? `M${place + 0.06} 1V${(1 - Math.max(0.06, each / highest)).toFixed(3)}H${place + 0.94}V1Z` : ''))
		.join('');
}
