/** Keys of a screen: a control names its own by `aria-keyshortcuts`, and is pressed, or gets the focus where it is a field. */
export interface ScreenKey {
	key: string;
	meaning: string;
}

/** Keys of what stands in a list, by its place there. */
const PLACE = /^[1-9]$/;
/** Parts of a long text. Each has a heading that takes the focus, or a summary. */
const SECTIONS = 'main [data-section]';
const SECTION_HEADS = ':scope > [tabindex], :scope > summary';
/** What stands in lists and tables, line by line. */
const LINES = 'main :is(ul, ol, tbody) > :is(li, tr), main article';
const FIELDS = 'input, select, textarea';
const REACHED = 'a[href], button:not(:disabled), summary';

function listControls(): HTMLElement[] {
	const all = [...document.querySelectorAll<HTMLElement>('main [aria-keyshortcuts]')];
	return all.filter((each) => !each.matches(':disabled') && each.checkVisibility());
}

const keyOf = (control: HTMLElement): string => control.getAttribute('aria-keyshortcuts') ?? '';

const isNumbered = (control: HTMLElement): boolean => PLACE.test(keyOf(control));

function nameOf(control: HTMLElement): string {
	const label = control.matches(FIELDS) ? (control as HTMLInputElement).labels?.[0] : null;
	const name = control.getAttribute('aria-label') ?? (label ?? control).innerText;
	return name.split('\n')[0]?.replace(/^[^\p{L}]+/u, '').trim() ?? '';
}

/** The keys of the screen that is shown, each once, with what their controls are called. */
export function listScreenKeys(): ScreenKey[] {
	const meanings = new Map<string, string>();
	const [numbered, others] = [listControls().filter(isNumbered), listControls().filter((control) => !isNumbered(control))];
	for (const control of others) if (!meanings.has(keyOf(control))) meanings.set(keyOf(control), nameOf(control));
	const keys = [...meanings].map(([key, meaning]) => ({ key, meaning }));
	const first = numbered[0];
	if (!first) return keys;
	// A line for each would hide the others.
	const list = first.closest('[aria-label]')?.getAttribute('aria-label') ?? '';
	return [...keys, { key: numbered.length > 1 ? `1…${numbered.length}` : '1', meaning: `Open one of: ${list}` }];
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

interface Line {
	line: Element;
	/** What takes the focus. */
	first: HTMLElement;
}

function listLines(): Line[] {
	const sections = [...document.querySelectorAll(SECTIONS)].flatMap((line) => {
		const first = line.querySelector<HTMLElement>(SECTION_HEADS);
		return first ? [{ line, first }] : [];
	});
	if (sections.length) return sections;
	const reached = [...document.querySelectorAll(LINES)].flatMap((line) => {
		const first = [...line.querySelectorAll<HTMLElement>(REACHED)].find((each) => each.checkVisibility());
		return first ? [{ line, first }] : [];
	});
	// A line in a line begins with the same control.
	return reached.filter(({ first }, place) => reached.findIndex((other) => other.first === first) === place);
}

/**
 * Move the focus to the next line of the lists of a screen, or the one before; of a long text, to its next section. False
 * where the screen has none.
 */
export function moveByLine(step: 1 | -1): boolean {
	const lines = listLines();
	const current = lines.findLastIndex(({ line }) => line.contains(document.activeElement));
	const place = current < 0 ? (step > 0 ? 0 : lines.length - 1) : current + step;
	const next = lines[Math.max(0, Math.min(lines.length - 1, place))];
	next?.first.focus();
	next?.first.scrollIntoView({ block: next.line.matches(SECTIONS) ? 'start' : 'nearest' });
	return next !== undefined;
}
