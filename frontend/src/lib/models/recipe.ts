import { cell, words } from '#lib/format.ts';

/** The settings of an operation of a recipe, in words: `columns age; method median`. */
export const stepText = (step: Record<string, unknown>): string =>
	Object.entries(step)
		.filter(([name, value]) => name !== 'op' && value !== null)
		.map(([name, value]) => `${words(name).toLowerCase()} ${Array.isArray(value) ? value.map((item) => cell(item)).join(', ') : cell(value)}`)
		.join('; ');
