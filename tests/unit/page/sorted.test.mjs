import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PagedList } from '../../../frontend/src/lib/api/resource.svelte.ts';
import { Sorted } from '../../../frontend/src/lib/ui/sorted.svelte.ts';

const PAGES = { '': [['B10', 2], ['b2', 30]], next: [['a1', 4]] };

test('a head sorts all pages of a list, and turns them round when it is pressed again', async () => {
	const list = new PagedList(async (after) => ({ items: PAGES[after ?? ''], next_cursor: after ? null : 'next' }));
	const sorted = new Sorted(list, { Name: ([name]) => name, Rows: ([, rows]) => rows });
	const names = () => sorted.order(list.items).map(([name]) => name);
	await list.begin();
	assert.deepEqual(names(), ['B10', 'b2']);
	await sorted.press('Name');
	assert.deepEqual(names(), ['a1', 'b2', 'B10']);
	await sorted.press('Rows');
	assert.deepEqual(names(), ['B10', 'a1', 'b2']);
	await sorted.press('Rows');
	assert.deepEqual(names(), ['b2', 'a1', 'B10']);
	assert.equal(sorted.isDescending, true);
});
