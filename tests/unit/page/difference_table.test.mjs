import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import DifferenceTable from '../../../frontend/src/lib/workflows/DifferenceTable.svelte';

const { render } = await import(createRequire(new URL('../../../frontend/package.json', import.meta.url)).resolve('svelte/server'));

const schedule = (cron, rest = {}) => ({ kind: 'schedule', cron, time_zone: 'Europe/Berlin', enabled: true, ...rest });

/** The cells of each row as text. */
function rowsOf(difference) {
	const { body } = render(DifferenceTable, { props: { difference, names: ['version 1', 'version 2'] } });
	const text = (html) => html.replace(/<!--.*?-->/g, '').replace(/<code[^>]*>(.*?)<\/code>/g, ' ($1)').replace(/<[^>]+>/g, '').trim();
	return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].slice(1).map(([, row]) => [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell]) => text(cell)));
}

test('a schedule is read in words, with its cron beneath', () => {
	const change = {
		id: 'mornings',
		before: { id: 'mornings', type: 'trigger', config: schedule('0 8 * * 1-5') },
		after: { id: 'mornings', type: 'trigger', config: schedule('0 9 * * *', { missed: 'skip' }) }
	};
	const triggers = [{ node: 'mornings', before: 'every weekday at 8:00, Europe/Berlin', after: 'every day at 9:00, Europe/Berlin' }];
	assert.deepEqual(rowsOf({ nodes_changed: [change], triggers, text: '' }), [
		['mornings', 'when it runs', 'every weekday at 8:00, Europe/Berlin (0 8 * * 1-5)', 'every day at 9:00, Europe/Berlin (0 9 * * *)'],
		['mornings', 'missed', '–', 'skip']
	]);
});

test('triggers that came or went are read in words', () => {
	const [old, current] = [
		{ id: 'old', type: 'trigger', config: schedule('0 8 * * 1-5') },
		{ id: 'new', type: 'trigger', config: { kind: 'interval', every_s: 7200 } }
	];
	const triggers = [
		{ node: 'new', before: null, after: 'every 2 hours' },
		{ node: 'old', before: 'every weekday at 8:00, Europe/Berlin', after: null }
	];
	assert.deepEqual(rowsOf({ nodes_added: [current], nodes_removed: [old], triggers, text: '' }), [
		['new', '', '–', 'trigger: every 2 hours'],
		['old', '', 'trigger: every weekday at 8:00, Europe/Berlin (0 8 * * 1-5)', '–']
	]);
});

test('settings of other nodes stand there as they are', () => {
	const change = {
		id: 'largest',
		before: { id: 'largest', type: 'top_k', config: { k: 3, enabled: 1 } },
		after: { id: 'largest', type: 'top_k', config: { k: 2, enabled: 2 } }
	};
	assert.deepEqual(rowsOf({ nodes_changed: [change], text: '' }), [
		['largest', 'k', '3', '2'],
		['largest', 'enabled', '1', '2']
	]);
});
