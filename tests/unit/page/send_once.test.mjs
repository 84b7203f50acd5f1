import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, sendOnce } from '../../../frontend/src/lib/api/send_once.ts';

test('ids are UUIDs, also where the browser has none on plain HTTP', (context) => {
	context.mock.method(crypto, 'randomUUID', () => assert.fail('not on plain HTTP'));
	const ids = Array.from({ length: 50 }, newId);
	for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
	assert.equal(new Set(ids).size, ids.length);
});

/** A service that keeps the keys that came; answers are lost on the way while `isLost`. */
function makeService() {
	const service = { keys: [], isLost: false };
	service.create = async (key) => {
		service.keys.push(key);
		if (service.isLost) throw new Error('lost');
	};
	return service;
}

const send = (service, content) => sendOnce('create', content, service.create);

test('what is sent again after a lost answer has the same key, and another key after the success', async () => {
	const service = makeService();
	service.isLost = true;
	await assert.rejects(send(service, { goal: 'a' }));
	service.isLost = false;
	await send(service, { goal: 'a' });
	await send(service, { goal: 'a' });
	const [lost, again, later] = service.keys;
	assert.deepEqual([lost === again, again === later], [true, false]);
});

test('two presses at a time have one key, and an edit has its own', async () => {
	const service = makeService();
	await Promise.all([send(service, { goal: 'b' }), send(service, { goal: 'b' }), send(service, { goal: 'c' })]);
	const [first, second, edited] = service.keys;
	assert.deepEqual([first === second, second === edited], [true, false]);
});

test('operations do not disturb each other', async () => {
	const service = makeService();
	service.isLost = true;
	await assert.rejects(send(service, { goal: 'd' }));
	await assert.rejects(sendOnce('other', { goal: 'e' }, service.create));
	await assert.rejects(send(service, { goal: 'd' }));
	assert.deepEqual([service.keys[0] === service.keys[2], service.keys[0] === service.keys[1]], [true, false]);
});
