/** Characters that turn the order of what stands behind them: `x\u202Egpj.exe` reads as a picture. */
const TURNING = /[\u202A-\u202E\u2066-\u2069]/;
const TURNING_ALL = new RegExp(TURNING, 'g');

const codePoint = (control: string): string => `[U+${control.charCodeAt(0).toString(16).toUpperCase()}]`;

/** A text in which such characters are seen, and do nothing. */
export const withVisibleControls = (text: string): string => (TURNING.test(text) ? text.replace(TURNING_ALL, codePoint) : text);

/** Attributes that are read out, or shown where the pointer rests. */
const READ = ['alt', 'aria-label', 'label', 'placeholder', 'title'];
const WITH_READ = READ.map((name) => `[${name}]`).join();

/**
 * Show such characters in every text below an element, and in what is read of its parts, before it is drawn: names of users
 * stand in a hundred places, and the one that forgets them is the one that is used. Returns the function that ends it, for
 * an attachment.
 */
export function showControls(root: HTMLElement): () => void {
	const mend = (text: Node): void => {
		const former = text.nodeValue ?? '';
		if (TURNING.test(former)) text.nodeValue = withVisibleControls(former);
	};
	const mendAttributes = (part: Element): void => {
		for (const name of READ) {
			const former = part.getAttribute(name) ?? '';
			if (TURNING.test(former)) part.setAttribute(name, withVisibleControls(former));
		}
	};
	const mendBelow = (node: Node): void => {
		if (node instanceof Element) {
			mendAttributes(node);
			node.querySelectorAll(WITH_READ).forEach(mendAttributes);
			const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
			while (texts.nextNode()) mend(texts.currentNode);
		} else if (node.nodeType === Node.TEXT_NODE) mend(node);
	};
	const observer = new MutationObserver((changes) => {
		for (const change of changes) {
			if (change.type === 'characterData') mend(change.target);
			else if (change.type === 'attributes') mendAttributes(change.target as Element);
			else change.addedNodes.forEach(mendBelow);
		}
	});
	mendBelow(root);
	observer.observe(root, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: READ });
	return () => observer.disconnect();
}
