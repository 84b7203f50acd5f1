import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Resource } from '../../../frontend/src/lib/api/resource.svelte.ts';

test('an opening reads once, also where there is nothing to list', async () => {
	let reads = 0;
	const resource = new Resource(async () => {
		reads += 1;
		return [];
	});
	await Promise.all([resource.begin(), resource.begin()]);
	await resource.begin();
	assert.deepEqual([reads, resource.data], [1, []]);
});
