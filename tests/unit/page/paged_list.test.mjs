import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PagedList } from '../../../frontend/src/lib/api/resource.svelte.ts';

const PAGE = 2;

/** A list of the service with pages of two items, and what has been read of it. */
function makeService(items) {
	const service = { items, reads: [], isLost: false };
	service.read = async (after) => {
		service.reads.push(after ?? null);
		if (service.isLost) throw new Error('lost');
		const start = Number(after ?? 0);
		const end = start + PAGE;
		return { items: service.items.slice(start, end), next_cursor: end < service.items.length ? String(end) : null };
	};
	return service;
}

async function readAll(service) {
	const list = new PagedList(service.read);
	await list.more();
	while (list.next) await list.more();
	return list;
}

test('a refresh reads all pages that are shown, and shows them at once', async () => {
	const service = makeService([1, 2, 3]);
	const list = await readAll(service);
	service.items = [0, 1, 2, 3];
	service.reads.length = 0;
	const shown = [];
	const refreshed = list.refresh();
	for (let step = 0; step < 8; step += 1) {
		shown.push(list.items.length);
		await Promise.resolve();
	}
	await refreshed;
	assert.deepEqual(list.items, [0, 1, 2, 3]);
	assert.deepEqual(service.reads, [null, '2']);
	assert.ok(shown.every((length) => length >= 3), shown.join());
});

test('a refresh waits for the page that was asked for', async () => {
	const service = makeService([1, 2, 3]);
	const list = new PagedList(service.read);
	await list.more();
	await Promise.all([list.more(), list.refresh()]);
	assert.deepEqual(list.items, [1, 2, 3]);
});

test('the next page is read after a refresh, once for two clicks', async () => {
	const service = makeService([1, 2, 3, 4, 5]);
	const list = new PagedList(service.read);
	await list.more();
	await Promise.all([list.refresh(), list.more(), list.more()]);
	assert.deepEqual(list.items, [1, 2, 3, 4]);
});

test('a refresh that fails keeps what was shown', async () => {
	const service = makeService([1, 2, 3]);
	const list = await readAll(service);
	service.isLost = true;
	await list.refresh();
	assert.deepEqual(list.items, [1, 2, 3]);
	assert.ok(list.problem);
	service.isLost = false;
	await list.refresh();
	assert.equal(list.problem, null);
});

test('what has been read is not read again by who begins or asks for more', async () => {
	const service = makeService([1, 2, 3]);
	const list = new PagedList(service.read);
	await Promise.all([list.begin(), list.begin()]);
	await list.begin();
	assert.deepEqual([list.items, service.reads], [[1, 2], [null]]);
	await list.more();
	await list.more();
	assert.deepEqual([list.items, service.reads], [[1, 2, 3], [null, '2']]);
});

test('a page that failed to come is read by the next try', async () => {
	const service = makeService([1, 2, 3]);
	const list = new PagedList(service.read);
	service.isLost = true;
	await list.begin();
	assert.deepEqual([list.isLoaded, list.problem !== null], [false, true]);
	service.isLost = false;
	await list.retry();
	assert.deepEqual([list.items, list.problem], [[1, 2], null]);
	service.isLost = true;
	await list.more();
	service.isLost = false;
	await list.retry();
	assert.deepEqual([list.items, list.problem], [[1, 2, 3], null]);
});
