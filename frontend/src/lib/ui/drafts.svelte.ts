import { SvelteMap } from 'svelte/reactivity';

/**
 * What was written and not sent yet, by its place: it is there again for who comes back. It is kept in the memory of the
 * tab alone, and goes with the page: a browser keeps what it stores for whoever signs in next.
 */
const drafts = new SvelteMap<string, string>();

export const readDraft = (place: string): string => drafts.get(place) ?? '';

export function keepDraft(place: string, text: string): void {
	if (text) drafts.set(place, text);
	else drafts.delete(place);
}
