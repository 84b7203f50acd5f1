/** A Vega-Lite specification as JSON. */
export type Specification = Record<string, unknown>;

/** Members by which a specification would load something, lead elsewhere or listen to more than its own drawing. */
const REFUSED: ReadonlySet<string> = new Set(['url', 'href', 'image', 'signals', 'usermeta', 'loader', 'expr', 'calculate', 'transform']);
/** Characters: a chart of the service has 5,000 rows at most. */
const MAX_CHARACTERS = 4_000_000;

/** Return the specification if it only draws its own rows; null for anything else. */
export function ownSpecification(text: string): Specification | null {
	if (text.length > MAX_CHARACTERS) return null;
	const specification: unknown = JSON.parse(text);
	if (!isRecord(specification) || !isRecord(specification.datasets)) return null;
	const { datasets, ...drawing } = specification;
	// Rows are values, whatever their columns are called; the drawing is checked member by member.
	return isDrawing(drawing) ? { ...drawing, datasets } : null;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

function isDrawing(value: unknown): boolean {
	if (Array.isArray(value)) return value.every(isDrawing);
	if (!isRecord(value)) return value !== 'image';
	return Object.entries(value).every(([name, part]) => !REFUSED.has(name) && isDrawing(part));
}
