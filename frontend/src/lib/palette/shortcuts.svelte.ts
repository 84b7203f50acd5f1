import { goto } from '$app/navigation';
import { moveByLine, pressScreenKey } from '#lib/palette/screen_keys.ts';
import { PLACES } from '#lib/ui/places.ts';

/** The key that commands of the browser's system begin with, as it is written on keyboards. */
export const COMMAND_KEY = /mac|iphone|ipad/i.test(navigator.platform) ? '⌘' : 'Ctrl';

/** Back and forth among the wordings of a message, where one has others; else the browser's own way back. */
const SIBLING_KEYS: ReadonlySet<string> = new Set(['ArrowLeft', 'ArrowRight']);
const OFF = 'single-keys-off';

/** Keys that work on every screen, and the two dialogs that they open. */
class Shortcuts {
	shown = $state<'palette' | 'keys' | null>(null);
	/** What a key did that is not seen otherwise, until the user does something else. */
	notice = $state('');
	/** Single letters can be switched off: some people speak to their machine, which types letters. */
	hasSingleKeys = $state(localStorage.getItem(OFF) === null);
	/** The last key was `g`, and the next one names a place; any other key ends that. */
	private isGoing = false;

	open(dialog: 'palette' | 'keys'): void {
		this.shown = dialog;
	}

	/** Close a dialog, not the next one: a browser says that one was closed after the next key may have come. */
	close(dialog: 'palette' | 'keys'): void {
		if (this.shown === dialog) this.shown = null;
	}

	switchSingleKeys(isOn: boolean): void {
		this.hasSingleKeys = isOn;
		if (isOn) localStorage.removeItem(OFF);
		else localStorage.setItem(OFF, '1');
	}

	handle(event: KeyboardEvent): void {
		this.notice = '';
		if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') {
			event.preventDefault();
			if (!isDialogOpen()) this.open('palette');
			return;
		}
		if (event.altKey && SIBLING_KEYS.has(event.key) && !isDialogOpen() && !isTyping(event.target)) {
			if (pressScreenKey(`Alt+${event.key}`)) event.preventDefault();
			return;
		}
		const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing;
		if (this.hasSingleKeys && isPlain && !isDialogOpen() && !isTyping(event.target) && this.press(event.key)) {
			event.preventDefault();
		}
	}

	/** Do what a single key means; false if it means nothing. */
	private press(key: string): boolean {
		const wasGoing = this.isGoing;
		this.isGoing = key === 'g' && !wasGoing;
		if (wasGoing) {
			const place = PLACES.find((each) => each.key === key);
			if (place) void goto(place.href);
			return place !== undefined;
		}
		if (this.isGoing) return true;
		if (key === '?') this.open('keys');
		else if (key === '/') pressScreenKey(key) || focusQuestion();
		else if (key === 'j') return moveByLine(1);
		else if (key === 'k') return moveByLine(-1);
		else if (key === 'y') void this.copyAddress();
		else return pressScreenKey(key);
		return true;
	}

	private async copyAddress(): Promise<void> {
		// Browsers refuse it on pages without TLS elsewhere than on this machine.
		const isCopied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
		this.notice = isCopied ? 'The address of this page is copied.' : 'The browser does not allow to copy here.';
	}
}

const isDialogOpen = (): boolean => document.querySelector('dialog[open]') !== null;

const isTyping = (target: EventTarget | null): boolean =>
	target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));

/** Focus the field of the screen in which one asks; without one, go where there is one. */
function focusQuestion(): void {
	const field = document.querySelector<HTMLElement>('main textarea, main input[type=search]');
	if (field) field.focus();
	else void goto('/');
}

export const shortcuts = new Shortcuts();
