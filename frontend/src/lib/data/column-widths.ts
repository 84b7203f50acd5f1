import { cell } from '#lib/format.ts';

export const isNumeric = (type: string | undefined): boolean => type === 'number' || type === 'integer';

/** A cell of a grid. Numbers have the digits that a reader compares; the exact one stands below the grid. */
export const gridCell = (value: unknown, type: string): string =>
	typeof value === 'number' && !Number.isInteger(value) ? String(Number(value.toPrecision(6))) : cell(value, type);

const CHARACTER = 7.4;
/** Names are bold. */
const NAME_CHARACTER = 8.4;
const PADDING = 26;
/** The sign of a sorted column. */
const SIGN = 22;
/** Numbers grow along a table, and one that is cut reads as another. */
const NUMBER_CHARACTERS = 11;
const MAX_NAME_CHARACTERS = 24;
const [MIN_WIDTH, MAX_WIDTH] = [64, 300];

/** Widths of columns in pixels, by their names and some rows: rows come and go, and widths that follow them would jump. */
export function columnWidths(columns: readonly { name: string; type: string }[], rows: readonly (readonly unknown[])[]): number[] {
	return columns.map(({ name, type }, place) => {
		const head = Math.min(name.length, MAX_NAME_CHARACTERS) * NAME_CHARACTER + SIGN;
		const least = isNumeric(type) ? NUMBER_CHARACTERS : 0;
		const cells = Math.max(least, ...rows.map((row) => gridCell(row[place], type).length)) * CHARACTER;
		return Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, head + PADDING, cells + PADDING)));
	});
}
