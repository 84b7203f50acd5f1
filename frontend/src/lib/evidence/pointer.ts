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
