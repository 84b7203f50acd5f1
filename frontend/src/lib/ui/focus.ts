import { isKept } from '#lib/ui/kept_focus.ts';

/**
 * Give something that has just come the focus, where nothing else has it: the next Tab is in it, and a screen reader
 * says it. Whoever writes or reads elsewhere is left in peace.
 */
export function focusIfIdle(element: HTMLElement): void {
	const active = document.activeElement;
	// On the title of the page nobody writes: it holds the place of who answered, until the next question. Nor does
	// anybody in the field of a conversation that is empty: its last message is answered by this.
	const isIdle =
		active === null ||
		active === document.body ||
		isKept(active) ||
		active.id === 'main' ||
		active.matches('main h1') ||
		(active instanceof HTMLTextAreaElement && active.matches('.composer *') && !active.value);
	if (isIdle) element.focus({ preventScroll: true });
}

/** Whether a field may be given the focus unasked: on a telephone half of the screen would be covered by its keys. */
export const canType = (): boolean => matchMedia('(hover: hover)').matches;
