/**
 * Give something that has just come the focus, where nothing else has it: the next Tab is in it, and a screen reader
 * says it. Whoever writes or reads elsewhere is left in peace.
 */
export function focusIfIdle(element: HTMLElement): void {
	const active = document.activeElement;
	// On the title of the page nobody writes: it holds the place of who answered, until the next question.
	const isIdle = active === null || active === document.body || active.id === 'main' || active.matches('main h1');
	if (isIdle) element.focus({ preventScroll: true });
}
