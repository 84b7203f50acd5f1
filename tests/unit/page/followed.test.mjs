import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { next, requests, settled } from './service.mjs';
import { Job } from '../../../frontend/src/lib/jobs/job.svelte.ts';
import { Run } from '../../../frontend/src/lib/runs/run.svelte.ts';
import { WholeRun } from '../../../frontend/src/lib/workflows/whole_run.svelte.ts';

mock.timers.enable({ apis: ['setTimeout'] });
globalThis.document = { visibilityState: 'hidden' };

/** Let the time between two readings pass. */
async function pass() {
	mock.timers.tick(1000);
	await settled();
}

const read = async (id) => await next('GET', `/runs/${id}`);
const runOf = (id, status) => ({ id, status });

test('a second press while a program runs creates nothing', async () => {
	const run = new Run();
	const started = run.start('sql', 'select 1', []);
	assert.equal(await run.start('sql', 'select 1', []), false);
	await (await next('POST', '/runs')).answer({ id: 'r1' }, 201);
	await (await read('r1')).answer(runOf('r1', 'running'));
	assert.equal(await run.start('sql', 'select 1', []), false);
	await pass();
	await (await read('r1')).answer(runOf('r1', 'succeeded'));
	assert.deepEqual([await started, run.isBusy, run.view.status, requests.length], [true, false, 'succeeded', 0]);
});

test('after a lost answer the same program has the same key', async () => {
	const run = new Run();
	const lost = run.start('sql', 'select 2', []);
	const first = await next('POST', '/runs');
	await first.lose();
	await lost;
	assert.ok(run.problem.isLost);
	void run.start('sql', 'select 2', []);
	const second = await next('POST', '/runs');
	assert.equal(second.key, first.key);
	run.leave();
	await second.answer({ id: 'r2' }, 201);
	assert.equal(requests.length, 0);
});

test('what is chosen last is shown, and the loop of the former one ends', async () => {
	const run = new Run();
	void run.follow('old');
	const old = await read('old');
	void run.follow('new');
	await old.answer(runOf('old', 'running'));
	await (await read('new')).answer(runOf('new', 'running'));
	await pass();
	assert.deepEqual([requests.map(({ path }) => path), run.view.id], [['/runs/new'], 'new']);
	await requests[0].answer(runOf('new', 'succeeded'));
	assert.equal(run.isBusy, false);
});

test('a lost reading is shown, and the following goes on', async () => {
	const run = new Run();
	const followed = run.follow('r3');
	await (await read('r3')).answer(runOf('r3', 'running'));
	await pass();
	await (await read('r3')).lose();
	assert.deepEqual([run.problem.isLost, run.view.status, run.isBusy], [true, 'running', true]);
	await pass();
	await (await read('r3')).answer(runOf('r3', 'succeeded'));
	assert.deepEqual([await followed, run.problem], [true, null]);
});

test('a refused reading ends the following, and a refused stop is shown', async () => {
	const run = new Run();
	const followed = run.follow('r4');
	await (await read('r4')).answer(runOf('r4', 'running'));
	const stopped = run.stop();
	await (await next('DELETE', '/runs/r4')).answer({ code: 'run_not_found' }, 404);
	await stopped;
	assert.equal(run.change.problem.code, 'run_not_found');
	await pass();
	await (await read('r4')).answer({ code: 'run_not_found' }, 404);
	assert.deepEqual([await followed, run.isBusy, run.problem.status], [false, false, 404]);
});

test('nothing is read after the page was left', async () => {
	const job = new Job();
	const sent = job.send('show me the flights', null);
	const request = await next('POST', '/agent/jobs');
	const { job_id } = JSON.parse(await request.text());
	await request.answer({ job_id });
	await (await next('GET', `/agent/jobs/${job_id}`)).answer({ job_id });
	job.leave();
	await pass();
	assert.deepEqual([await sent, requests.length], [false, 0]);
});

test('a late answer to a change does not undo the end of a run', async () => {
	const run = new WholeRun();
	const wholeRun = (ended_at) => ({ id: 'w1', ended_at, outcome: 'succeeded', nodes: {} });
	const followed = run.follow('w1');
	await (await next('GET', '/workflow-runs/w1')).answer(wholeRun(null));
	const cancelled = run.cancel();
	const late = await next('POST', '/workflow-runs/w1/cancel');
	mock.timers.tick(1000);
	await settled();
	await requests[1].answer(wholeRun('2026-01-01T00:00:00Z'));
	await followed;
	await late.answer(wholeRun(null));
	await cancelled;
	assert.equal(run.view.ended_at, '2026-01-01T00:00:00Z');
});

test('a run that is created only after its page was left is not followed', async () => {
	const run = new WholeRun();
	run.leave();
	assert.deepEqual([await run.follow('w2'), requests.length], [false, 0]);
});
