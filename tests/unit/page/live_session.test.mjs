import assert from 'node:assert/strict';
import { test } from 'node:test';
import { next, requests } from './service.mjs';
import { LiveSession } from '../../../frontend/src/lib/session/live-session.svelte.ts';

test('a view that is late does not replace the last one of a session', async () => {
	const session = new LiveSession('s1');
	const loads = [session.load(), session.load()];
	await next('GET', '/lab/agent/sessions/s1');
	const [early, late] = [...requests];
	await late.answer({ status: 'completed' });
	await early.answer({ status: 'running' });
	await Promise.all(loads);
	assert.equal(session.view.status, 'completed');
});
