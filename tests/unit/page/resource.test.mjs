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

/** A resource whose answers come when the test lets them, in any order. */
function makeResource(key) {
	const answers = [];
	const resource = new Resource(() => new Promise((resolve, reject) => answers.push({ resolve, reject })), key);
	return { resource, answers };
}

test('an answer that is older than what is shown is dropped, as is its failure', async () => {
	const { resource, answers } = makeResource();
	const loads = [resource.load(), resource.load(), resource.load()];
	answers[1].resolve('newer');
	await loads[1];
	answers[0].resolve('older');
	await loads[0];
	assert.deepEqual([resource.data, resource.isLoading], ['newer', true]);
	answers[2].resolve('newest');
	await loads[2];
	const late = resource.load();
	const last = resource.load();
	answers[4].resolve('last');
	await last;
	answers[3].reject(new Error('too late'));
	await late;
	assert.deepEqual([resource.data, resource.problem, resource.isLoading], ['last', null, false]);
});

test('answers that come in order are shown while a newer one is on its way', async () => {
	const { resource, answers } = makeResource();
	const first = resource.load();
	void resource.load();
	answers[0].resolve('first');
	await first;
	assert.equal(resource.data, 'first');
});

test('nothing of another choice is shown', async () => {
	let chosen = 'A';
	const { resource, answers } = makeResource(() => chosen);
	const [first, second] = [resource.load(), resource.load()];
	answers[0].resolve('of A');
	await first;
	chosen = 'B';
	const third = resource.load();
	assert.equal(resource.data, null);
	answers[1].resolve('of A, late');
	await second;
	assert.equal(resource.data, null);
	answers[2].resolve('of B');
	await third;
	assert.equal(resource.data, 'of B');
});

test('what a change has answered is not replaced by a reading that began before it', async () => {
	const { resource, answers } = makeResource();
	const before = resource.load();
	resource.replace('changed');
	answers[0].resolve('as it was');
	await before;
	assert.equal(resource.data, 'changed');
});
