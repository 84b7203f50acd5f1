/**
 * Give something that has just come the focus, where nothing else has it: the next Tab is in it, and a screen reader
 * says it. Whoever writes or reads elsewhere is left in peace.
 */
export function focusIfIdle(element: HTMLElement): void {
	const active = document.activeElement;
	if (active === null || active === document.body || active.id === 'main') element.focus({ preventScroll: true });
}
