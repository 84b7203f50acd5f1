import type { Token } from 'marked';

/** An address that a link may open; null for every scheme but http and https. */
export function webAddress(href: string): URL | null {
	if (!/^https?:\/\//i.test(href)) return null;
	try {
		return new URL(href);
	} catch {
		return null;
	}
}

/** A piece as its writer meant it: escaped marks without their backslash, markup of other kinds as it stands. */
export function written(token: Token): string {
	const isPlain = token.type === 'text' || token.type === 'escape' || token.type === 'link';
	return isPlain && 'text' in token ? String(token.text) : token.raw;
}
