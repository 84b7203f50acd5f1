import { cell, figure, plain, words } from '#lib/format.ts';
import { stepText } from '#lib/models/recipe.ts';

/** Settings whose values are names of the API, not of the user's columns or tables. */
const CODED: ReadonlySet<string> = new Set(['kind', 'outlook', 'source', 'stages']);

const isSteps = (value: unknown): value is Record<string, unknown>[] =>
	Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'object' && item !== null && 'op' in item);

/** A value that two sessions differ in, as it is read: no JSON, and no names of the API. */
export function valueText(setting: string, value: unknown): string {
	if (value === null || value === undefined || (Array.isArray(value) && !value.length)) return '–';
	if (typeof value === 'number') return figure(value);
	if (typeof value === 'boolean') return value ? 'yes' : 'no';
	if (isSteps(value)) return value.map((step) => `${words(String(step.op))} (${stepText(step)})`).join('; ');
	if (Array.isArray(value)) return value.map((item) => valueText(setting, item)).join(', ');
	if (typeof value === 'object') {
		const entries = Object.entries(value).filter(([, entry]) => entry !== null);
		return entries.length ? entries.map(([key, entry]) => `${plain(key)}: ${valueText(key, entry)}`).join('; ') : '–';
	}
	return CODED.has(setting) ? plain(cell(value)) : cell(value);
}
