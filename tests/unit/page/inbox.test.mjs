import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Inbox } from '../../../frontend/src/lib/inbox/inbox.svelte.ts';

for (const [sessions, runs, count, shown] of [
	[0, 0, 0, '0'],
	[1, 2, 3, '3'],
	[50, 49, 99, '99'],
	[50, 50, 100, '99+'],
	[100, 100, 200, '99+']
]) {
	test(`${sessions} sessions and ${runs} runs are ${shown} items`, () => {
		const inbox = new Inbox();
		inbox.sessions = Array(sessions).fill({});
		inbox.reviewedRuns = Array(runs).fill({});
		assert.deepEqual([inbox.count, inbox.shownCount], [count, shown]);
	});
}
