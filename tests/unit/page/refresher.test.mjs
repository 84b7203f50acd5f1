import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refresher } from '../../../frontend/src/lib/stream/refresher.ts';

/** Readings that end when the test says so. */
function makeReadings() {
	const ends = [];
	return { ends, read: () => new Promise((resolve) => ends.push(resolve)) };
}

test('changes during a reading lead to one more reading', async () => {
	const { ends, read } = makeReadings();
	const refresher = new Refresher(read, () => true);
	const refreshed = refresher.refresh();
	refresher.onChange();
	refresher.onChange();
	assert.equal(ends.length, 1);
	ends[0]();
	await Promise.resolve();
	await Promise.resolve();
	assert.equal(ends.length, 2);
	ends[1]();
	await refreshed;
	assert.equal(ends.length, 2);
});

test('a page that nobody sees reads when it is seen again, once', async () => {
	let isVisible = false;
	let count = 0;
	const refresher = new Refresher(async () => (count += 1), () => isVisible);
	refresher.onChange();
	refresher.onChange();
	refresher.onVisibilityChange();
	assert.equal(count, 0);
	isVisible = true;
	refresher.onVisibilityChange();
	assert.equal(count, 1);
	await Promise.resolve();
	refresher.onVisibilityChange();
	assert.equal(count, 1);
});

test('a reading that fails does not end the others', async () => {
	let count = 0;
	const refresher = new Refresher(
		async () => {
			count += 1;
			if (count === 1) throw new Error('lost');
		},
		() => true
	);
	await assert.rejects(refresher.refresh());
	await refresher.refresh();
	assert.equal(count, 2);
});
