/** The value at a JSON Pointer (RFC 6901); undefined where there is none. */
export function pointed(value: unknown, pointer: string): unknown {
	if (pointer === '') return value;
	let place: unknown = value;
	for (const part of pointer.slice(1).split('/')) {
		if (typeof place !== 'object' || place === null) return undefined;
		const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
		if (!Object.hasOwn(place, key)) return undefined;
		place = (place as Record<string, unknown>)[key];
	}
	return place;
}
/** The JSON Pointer (RFC 6901) of a path of names and positions. */
export const pointerOf = (...path: (string | number)[]): string =>
	path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Where the value at a pointer begins and ends in the text that `JSON.stringify(value, null, indent)` writes; null without one. */
export function placeOf(value: unknown, pointer: string, indent: number): [begin: number, end: number] | null {
	let [place, begin, depth] = [value, 0, 0];
	/** Characters of a part at this depth, of which each line but the first is indented. */
	const size = (part: unknown): number => {
		const lines = JSON.stringify(part, null, indent).split('\n');
		return lines.reduce((sum, line) => sum + line.length + 1 + indent * depth, 0) - 1 - indent * depth;
	};
	for (const part of pointer.slice(1).split('/')) {
		if (typeof place !== 'object' || place === null) return null;
		const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
		if (!Object.hasOwn(place, key)) return null;
		depth += 1;
		// The bracket and its line end.
		begin += 2;
		for (const [name, child] of Object.entries(place)) {
			begin += indent * depth + (Array.isArray(place) ? 0 : JSON.stringify(name).length + 2);
			if (name === key) break;
			// The comma and its line end.
			begin += size(child) + 2;
		}
		place = (place as Record<string, unknown>)[key];
	}
	return [begin, begin + size(place)];
}
