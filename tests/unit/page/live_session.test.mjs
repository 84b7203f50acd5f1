import assert from 'node:assert/strict';
import { test } from 'node:test';
import { next, requests, settled } from './service.mjs';
import { LiveSession } from '../../../frontend/src/lib/session/live-session.svelte.ts';
import { ScoreRounds } from '../../../frontend/src/lib/session/score-rounds.svelte.ts';
import { stream } from '../../../frontend/src/lib/stream/stream.svelte.ts';

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

test('a session whose page was left takes no more events, and is not read again', async (context) => {
	context.mock.timers.enable({ apis: ['setTimeout'] });
	let handler;
	context.mock.method(stream, 'watchSession', (_id, _since, given) => ((handler = given), () => undefined));
	let now = 0;
	// Each event takes longer than the page has for them at once.
	context.mock.method(performance, 'now', () => (now += 8));
	const session = new LiveSession('s2');
	const leave = session.open();
	await (await next('GET', '/lab/agent/sessions/s2')).answer({ status: 'running' });
	handler.onEvents([1, 2, 3].map((seq) => ({ seq, kind: 'session_queued' })));
	leave();
	context.mock.timers.runAll();
	await settled();
	assert.deepEqual([session.cursor, requests.length], [1, 0]);
});

test('copied steps that could not be read come with the next try', async (context) => {
	context.mock.method(stream, 'watchSession', () => () => undefined);
	const session = new LiveSession('s3');
	session.open();
	await (await next('GET', '/lab/agent/sessions/s3')).answer({ status: 'running', forked_from: 's1' });
	await (await next('GET', '/lab/agent/sessions/s3/steps')).lose();
	assert.ok(session.problem.isLost);
	void session.retry();
	await (await next('GET', '/lab/agent/sessions/s3')).answer({ status: 'running', forked_from: 's1' });
	await (await next('GET', '/lab/agent/sessions/s3/steps')).answer({ items: [{ step: 1, node: 'planning', inherited: true, calls: [] }] });
	assert.deepEqual([session.problem, session.timeline.steps.map(({ node }) => node)], [null, ['planning']]);
});

test('rounds of a step stand in the order of their calls, in whatever order they are read', async () => {
	const rounds = new ScoreRounds('s4');
	const call = (key) => ({ key, kind: 'call', title: 'train_fast', call: key, failed: false });
	rounds.update([{ step: 5, items: [call('a'), call('b')] }]);
	await settled();
	const [first, second] = [...requests];
	await second.answer({ result: { name: 'later', metric: 'r2', score: 0.5 } });
	await first.answer({ result: { name: 'earlier', metric: 'r2', score: 0.4 } });
	assert.deepEqual(rounds.rounds.map(({ name }) => name), ['earlier', 'later']);
});

test('a session that is on its way when its stream ends is read again only if it is not over', async (context) => {
	let handler;
	context.mock.method(stream, 'watchSession', (_id, _since, given) => ((handler = given), () => undefined));
	for (const [status, reads] of [['completed', 0], ['running', 1]]) {
		new LiveSession('s5').open();
		const first = await next('GET', '/lab/agent/sessions/s5');
		handler.onEnd();
		await first.answer({ status });
		assert.equal(requests.length, reads);
	}
	await requests[0].answer({ status: 'completed' });
});
