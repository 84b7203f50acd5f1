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
	/** What the machine reads instead of the words, such as the cron of a schedule. */
	beforeDetail?: string;
	afterDetail?: string;
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const show = (value: unknown): string => (value === null || value === undefined ? '' : describeSetting(value));
const describeNode = ({ type, config }: Schema<'Node'>, trigger?: string | null): string =>
	[plain(type), trigger ?? summarize(config ?? {})].filter(Boolean).join(': ');
const edgeText = (condition: Schema<'EdgeCondition'> | null | undefined): string => (condition ? `if ${describeCondition(condition)}` : 'always');

/** The settings of a node beside each other: those of its configuration by their own names. */
function settings(node: Json): Map<string, unknown> {
	const own = Object.entries(node).filter(([name]) => name !== 'id' && name !== 'config');
	return new Map([...own, ...Object.entries(isObject(node['config']) ? node['config'] : {})]);
}

/** Settings of a trigger that its words say. */
const TRIGGER_SETTINGS: ReadonlySet<string> = new Set(['kind', 'cron', 'time_zone', 'every_s', 'secret', 'enabled']);

const cronOf = (config: unknown): string => (isObject(config) && config['kind'] === 'schedule' ? show(config['cron']) : '');

function changedRows({ id, before, after }: Schema<'NodeChange'>, trigger: Schema<'TriggerChange'> | undefined): DifferenceRow[] {
	const [old, current] = [settings(before), settings(after)];
	const names = [...new Set([...old.keys(), ...current.keys()])].filter(
		(name) => JSON.stringify(old.get(name)) !== JSON.stringify(current.get(name))
	);
	const inWords = new Set(trigger ? names.filter((name) => TRIGGER_SETTINGS.has(name)) : []);
	const rows = names
		.filter((name) => !inWords.has(name))
		.map((name): DifferenceRow => ({ node: id, setting: plain(name), before: show(old.get(name)), after: show(current.get(name)) }));
	if (!trigger || !inWords.size) return rows;
	const details = { beforeDetail: cronOf(before['config']), afterDetail: cronOf(after['config']) };
	return [{ node: id, setting: 'when it runs', before: trigger.before ?? '', after: trigger.after ?? '', ...details }, ...rows];
}

/** What differs between two versions, a row for each setting, node and edge. */
export function differenceRows(difference: Schema<'WorkflowDifference'>): DifferenceRow[] {
	const triggers = new Map((difference.triggers ?? []).map((trigger) => [trigger.node, trigger]));
	const added = (difference.nodes_added ?? []).map((node): DifferenceRow => {
		const after = describeNode(node, triggers.get(node.id)?.after);
		return { node: node.id, setting: '', before: '', after, afterDetail: cronOf(node.config) };
	});
	const removed = (difference.nodes_removed ?? []).map((node): DifferenceRow => {
		const before = describeNode(node, triggers.get(node.id)?.before);
		return { node: node.id, setting: '', before, after: '', beforeDetail: cronOf(node.config) };
	});
	const edge = (from: string, to: string, before: string, after: string): DifferenceRow => ({ node: `${from} → ${to}`, setting: '', before, after });
	return [
		...added,
		...removed,
		...(difference.nodes_changed ?? []).flatMap((change) => changedRows(change, triggers.get(change.id))),
		...(difference.edges_added ?? []).map(({ from, to, condition }) => edge(from, to, '', edgeText(condition))),
		...(difference.edges_removed ?? []).map(({ from, to, condition }) => edge(from, to, edgeText(condition), '')),
		...(difference.edges_changed ?? []).map(({ from, to, before, after }) => edge(from, to, edgeText(before), edgeText(after)))
	];
}
