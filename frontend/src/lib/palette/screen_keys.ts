/** Keys of a screen: a control names its own by `aria-keyshortcuts`, and is pressed, or gets the focus where it is a field. */
export interface ScreenKey {
	key: string;
	meaning: string;
}

/** What stands in lists and tables, line by line. */
const LINES = 'main :is(ul, ol, tbody) > :is(li, tr), main article';
const FIELDS = 'input, select, textarea';
const REACHED = 'a[href], button:not(:disabled), summary';

function listControls(): HTMLElement[] {
	const all = [...document.querySelectorAll<HTMLElement>('main [aria-keyshortcuts]')];
	return all.filter((each) => !each.matches(':disabled') && each.checkVisibility());
}

const keyOf = (control: HTMLElement): string => control.getAttribute('aria-keyshortcuts') ?? '';

function nameOf(control: HTMLElement): string {
	const label = control.matches(FIELDS) ? (control as HTMLInputElement).labels?.[0] : null;
	const name = control.getAttribute('aria-label') ?? (label ?? control).innerText;
	return name.split('\n')[0]?.replace(/^[^\p{L}]+/u, '').trim() ?? '';
}

/** The keys of the screen that is shown, each once, with what their controls are called. */
export function listScreenKeys(): ScreenKey[] {
	const meanings = new Map<string, string>();
	for (const control of listControls()) if (!meanings.has(keyOf(control))) meanings.set(keyOf(control), nameOf(control));
	return [...meanings].map(([key, meaning]) => ({ key, meaning }));
}

/**
 * Press the control of a key; false where the screen has none. Of several it is the one in the line that has the focus,
 * else the first, and in a conversation that of the newest answer.
 */
export function pressScreenKey(key: string): boolean {
	const all = listControls().filter((control) => keyOf(control) === key);
	const line = document.activeElement?.closest('li, tr, article');
	const own = line ? all.find((control) => line.contains(control)) : undefined;
	const control = own ?? (all[0]?.closest('article') ? all.at(-1) : all[0]);
	if (!control) return false;
	if (control.matches(FIELDS)) control.focus();
	else control.click();
	return true;
}

/** Move the focus to the next line of the lists of a screen, or the one before; false where it has none. */
export function moveByLine(step: 1 | -1): boolean {
	const reached = [...document.querySelectorAll(LINES)].flatMap((line) => {
		const first = [...line.querySelectorAll<HTMLElement>(REACHED)].find((each) => each.checkVisibility());
		return first ? [{ line, first }] : [];
	});
	// A line in a line begins with the same control.
	const lines = reached.filter(({ first }, place) => reached.findIndex((other) => other.first === first) === place);
	const current = lines.findLastIndex(({ line }) => line.contains(document.activeElement));
	const place = current < 0 ? (step > 0 ? 0 : lines.length - 1) : current + step;
	const next = lines[Math.max(0, Math.min(lines.length - 1, place))];
	next?.first.focus();
	next?.first.scrollIntoView({ block: 'nearest' });
	return next !== undefined;
}
