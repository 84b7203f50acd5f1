import type { Specification } from '#lib/charts/specification.ts';

/** A drawn chart; `close` frees it. */
export interface DrawnChart {
	close: () => void;
}

/** What is under the pointer, as names and texts; null where nothing is. */
export type ShowTooltip = (facts: [string, string][] | null, x: number, y: number) => void;

/**
 * Draw a specification in an element. Expressions are interpreted, never compiled, and nothing is loaded: the policy
 * of the page allows neither.
 */
export async function drawChart(element: HTMLElement, specification: Specification, config: Specification, show: ShowTooltip): Promise<DrawnChart> {
	// 230 kB compressed, fetched with the first chart only.
	const [{ compile }, { parse, View }, { expressionInterpreter }] = await Promise.all([import('vega-lite'), import('vega'), import('vega-interpreter')]);
	const own = typeof specification.config === 'object' ? specification.config : {};
	const sized = { ...specification, width: 'container', autosize: { type: 'fit', contains: 'padding' }, config: { ...own, ...config } };
	const { spec } = compile(withTooltip(sized) as unknown as Parameters<typeof compile>[0]);
	const view = new View(parse(spec, undefined, { ast: true }), {
		expr: expressionInterpreter,
		renderer: 'svg',
		container: element,
		hover: true,
		loader: { load: refuse, sanitize: refuse, http: refuse, file: refuse }
	});
	// Without an event where the mark under the pointer goes away, as at the end of the view.
	view.tooltip((_handler: unknown, event: MouseEvent | null, _item: unknown, value: unknown) =>
		show(event && factsOf(value), event?.offsetX ?? 0, event?.offsetY ?? 0)
	);
	await view.runAsync();
	return { close: () => view.finalize() };
}

const refuse = (): Promise<never> => Promise.reject(new Error('Charts load nothing.'));

/** Every mark tells its row. */
function withTooltip(specification: Specification): Specification {
	const { mark, layer } = specification;
	const marked = (value: unknown): unknown =>
		typeof value === 'string' ? { type: value, tooltip: true } : typeof value === 'object' && value !== null ? { ...value, tooltip: true } : value;
	return {
		...specification,
		...(mark !== undefined && { mark: marked(mark) }),
		...(Array.isArray(layer) && { layer: layer.map((part: unknown) => withTooltip(part as Specification)) })
	};
}

function factsOf(value: unknown): [string, string][] | null {
	if (value === null || value === undefined || value === '') return null;
	if (typeof value !== 'object') return [['', String(value)]];
	return Object.entries(value).map(([name, fact]) => [name, String(fact)]);
}
