import { cell, plain } from '#lib/format.ts';

const shown = (value: unknown): string => (Array.isArray(value) ? value.map((item) => plain(cell(item))).join(', ') : plain(cell(value)));

/** What an operation of a recipe is done to and how, in words: `of age; method median`. What is off goes unsaid. */
export function stepText({ op: _, columns, ...settings }: Record<string, unknown>): string {
	// Names of columns stay as they are.
	const where = Array.isArray(columns) ? `of ${columns.map((column) => cell(column)).join(', ')}` : '';
	const how = Object.entries(settings)
		.filter(([, value]) => value !== null && value !== false)
		.map(([name, value]) => (value === true ? plain(name) : `${plain(name)} ${shown(value)}`));
	return [where, ...how].filter(Boolean).join('; ');
}
