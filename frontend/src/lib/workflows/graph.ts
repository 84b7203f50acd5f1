import type { Schema } from '#lib/api/client.ts';
import { summarize } from '#lib/workflows/configuration.ts';

export interface PlacedNode {
	id: string;
	type: string;
	/** Its retries, its time limit, and whether one input is enough, in words. */
	limits: string;
	/** What it does, from its settings. */
	summary: string;
	/** Grid places: the longest way from a node without inputs, and the place among nodes with the same. */
	column: number;
	row: number;
}

export interface PlacedEdge {
	from: PlacedNode;
	to: PlacedNode;
	/** The test of a value that `from` came to, in words; empty where there is none. */
	condition: string;
}

export const describeCondition = (condition: Schema<'EdgeCondition'>): string => `${condition.field} ${condition.op} ${JSON.stringify(condition.value)}`;

const describeLimits = ({ retries, timeout_s, needs }: Schema<'Node'>): string =>
	[needs === 'any' && 'any input', retries && `${retries} retries`, timeout_s && `at most ${timeout_s} s`].filter(Boolean).join(', ');

/** Place the nodes of a document without circles, from left to right. */
export function placeNodes(document: Schema<'WorkflowDocument'>): { nodes: PlacedNode[]; edges: PlacedEdge[] } {
	const edges = document.edges ?? [];
	const columns = new Map<string, number>();
	const columnOf = (id: string): number => {
		const known = columns.get(id);
		if (known !== undefined) return known;
		columns.set(id, 0);
		const column = Math.max(-1, ...edges.filter((edge) => edge.to === id).map((edge) => columnOf(edge.from))) + 1;
		columns.set(id, column);
		return column;
	};
	const heights = new Map<number, number>();
	const nodes = document.nodes.map((node): PlacedNode => {
		const column = columnOf(node.id);
		const row = heights.get(column) ?? 0;
		heights.set(column, row + 1);
		return { id: node.id, type: node.type, limits: describeLimits(node), summary: summarize(node.config ?? {}), column, row };
	});
	const byId = new Map(nodes.map((node) => [node.id, node]));
	const placed = edges.flatMap((edge) => {
		const [from, to] = [byId.get(edge.from), byId.get(edge.to)];
		return from && to ? [{ from, to, condition: edge.condition ? describeCondition(edge.condition) : '' }] : [];
	});
	return { nodes, edges: placed };
}
