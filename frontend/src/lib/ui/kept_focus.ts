const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled, [type=hidden], [tabindex="-1"]), select:not(:disabled), textarea:not(:disabled), summary, [tabindex="0"]';
/** Parts of a screen in which somebody works: the focus stays in the one that it was in. */
const PART = 'section, article, form, dialog, [role=dialog], [role=region], main';

let kept: Element | null = null;

/** Whether the focus stands where it was put because its own place is gone: nobody chose it. */
export const isKept = (element: Element): boolean => element === kept;

/**
 * Where what had the focus goes away below an element, put it on what comes next in the same part of the screen: the
 * next Tab would begin at the top of the page. What takes the focus itself meanwhile has it. A button that was disabled
 * while it worked has it again. Returns the function that ends it, for an attachment.
 */
export function keepFocus(root: HTMLElement): () => void {
	let held: HTMLElement | SVGElement | null = null;
	const remember = (event: FocusEvent): void => {
		held = event.target as HTMLElement;
		if (held !== kept) kept = null;
	};
	const observer = new MutationObserver((changes) => {
		const lost = held;
		if (!lost) return;
		if (lost.isConnected) {
			if (isNowhere() && changes.some((change) => change.target === lost) && !lost.matches(':disabled')) lost.focus({ preventScroll: true });
			return;
		}
		const removal = changes.find((change) => [...change.removedNodes].some((node) => node.contains(lost)));
		held = null;
		if (removal) requestAnimationFrame(() => setTimeout(() => isNowhere() && focusNear(removal)));
	});
	root.addEventListener('focusin', remember);
	observer.observe(root, { subtree: true, childList: true, attributeFilter: ['disabled'] });
	return () => {
		root.removeEventListener('focusin', remember);
		observer.disconnect();
	};
}

const isNowhere = (): boolean => document.activeElement === null || document.activeElement === document.body;

/** Focus what comes after the place of something that was removed, else the last thing before it. */
function focusNear({ target, nextSibling, previousSibling }: MutationRecord): void {
	const element = target instanceof Element ? target : target.parentElement;
	const part = element?.isConnected ? element.closest(PART) : null;
	if (!part) return;
	const place = [nextSibling, previousSibling].find((node) => node?.isConnected) ?? element;
	const all = [...part.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((each) => each.checkVisibility());
	const isAfter = (each: HTMLElement): boolean =>
		place === each || (place !== null && (place.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0);
	kept = all.find(isAfter) ?? all.at(-1) ?? part;
	if (kept === part && !part.hasAttribute('tabindex')) part.setAttribute('tabindex', '-1');
	(kept as HTMLElement).focus({ preventScroll: true });
}
