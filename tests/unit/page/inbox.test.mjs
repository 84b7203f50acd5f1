import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requests, settled } from './service.mjs';
import { Inbox } from '../../../frontend/src/lib/inbox/inbox.svelte.ts';

for (const [sessions, runs, count, shown] of [
	[0, 0, 0, '0'],
	[1, 2, 3, '3'],
	[50, 49, 99, '99'],
	[50, 50, 100, '99+'],
	[100, 100, 200, '99+']
]) {
	test(`${sessions} questions and ${runs} failed runs are ${shown} items`, () => {
		const inbox = new Inbox();
		inbox.items = Array(sessions).fill({});
		inbox.reviewedRuns = Array(runs).fill({});
		assert.deepEqual([inbox.count, inbox.shownCount], [count, shown]);
	});
}

test('what was read before a run was seen does not bring it back', async () => {
	const inbox = new Inbox();
	const loads = [inbox.load(), inbox.load()];
	await settled();
	const [early, late] = [requests.slice(0, 2), requests.slice(2)];
	const answer = async (open, runs) => {
		for (const request of open) await request.answer(request.path === '/workflow-runs' ? runs : { items: [] });
	};
	await answer(late, []);
	await answer(early, [{ id: 'r1' }]);
	await Promise.all(loads);
	assert.deepEqual([inbox.count, inbox.isLoaded], [0, true]);
});
