import type { Schema } from '#lib/api/client.ts';
import { plain } from '#lib/format.ts';
import { describeSetting, summarize } from '#lib/workflows/configuration.ts';
import { describeCondition } from '#lib/workflows/graph.ts';

/** One thing that differs; a side that does not have it is empty. */
export interface DifferenceRow {
	node: string;
	setting: string;
	before: string;
	after: string;
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const show = (value: unknown): string => (value === null || value === undefined ? '' : describeSetting(value));
const describeNode = ({ type, config }: Schema<'Node'>): string => [plain(type), summarize(config ?? {})].filter(Boolean).join(': ');
const edgeText = (condition: Schema<'EdgeCondition'> | null | undefined): string => (condition ? `if ${describeCondition(condition)}` : 'always');

/** The settings of a node beside each other: those of its configuration by their own names. */
function settings(node: Json): Map<string, unknown> {
	const own = Object.entries(node).filter(([name]) => name !== 'id' && name !== 'config');
	return new Map([...own, ...Object.entries(isObject(node['config']) ? node['config'] : {})]);
}

function changedRows({ id, before, after }: Schema<'NodeChange'>): DifferenceRow[] {
	const [old, current] = [settings(before), settings(after)];
	const names = [...new Set([...old.keys(), ...current.keys()])];
	return names
		.filter((name) => JSON.stringify(old.get(name)) !== JSON.stringify(current.get(name)))
		.map((name) => ({ node: id, setting: plain(name), before: show(old.get(name)), after: show(current.get(name)) }));
}

/** What differs between two versions, a row for each setting, node and edge. */
export function differenceRows(difference: Schema<'WorkflowDifference'>): DifferenceRow[] {
	const added = (difference.nodes_added ?? []).map((node) => ({ node: node.id, setting: '', before: '', after: describeNode(node) }));
	const removed = (difference.nodes_removed ?? []).map((node) => ({ node: node.id, setting: '', before: describeNode(node), after: '' }));
	const edge = (from: string, to: string, before: string, after: string): DifferenceRow => ({ node: `${from} → ${to}`, setting: '', before, after });
	return [
		...added,
		...removed,
		...(difference.nodes_changed ?? []).flatMap(changedRows),
		...(difference.edges_added ?? []).map(({ from, to, condition }) => edge(from, to, '', edgeText(condition))),
		...(difference.edges_removed ?? []).map(({ from, to, condition }) => edge(from, to, edgeText(condition), '')),
		...(difference.edges_changed ?? []).map(({ from, to, before, after }) => edge(from, to, edgeText(before), edgeText(after)))
	];
}
