import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { next, requests, settled } from './service.mjs';
import { Conversation } from '../../../frontend/src/lib/chat/conversation.svelte.ts';

/** The shared worker of the browser, which has the one stream of all tabs. */
const watched = new Map();
let port;
globalThis.SharedWorker = class {
	constructor() {
		port = this.port = {
			start: () => undefined,
			postMessage(message) {
				if (message.kind === 'watch') watched.set(message.name, message.topic.session);
				else watched.delete(message.name);
			}
		};
	}
};
globalThis.EventSource = class {
	constructor() {
		assert.fail('A turn is watched over the one stream: a seventh connection would hang.');
	}
};
const open = () => [...watched.values()];
const tell = (session, ...events) => {
	const name = [...watched].find((each) => each[1] === session)[0];
	port.onmessage({ data: { kind: 'frame', name, frame: { kind: 'events', watch: name, events } } });
};

beforeEach(() => watched.clear());
Object.assign(globalThis, { requestAnimationFrame: (draw) => setImmediate(draw), cancelAnimationFrame: clearImmediate });

const turn = (turn_id, status = 'executing') => ({ turn_id, status, mode: 'auto', message: turn_id });
const page = (turns, next) => ({ messages: turns.map((each) => ({ turn: each })), next });

async function answerLoad(turns, before = null) {
	await (await next('GET', '/threads/c1')).answer({ id: 'c1', worldlines: [] });
	await (await next('GET', '/threads/c1/messages')).answer(page(turns, before));
}

test('a conversation that is left before it was read opens nothing', async () => {
	const leave = new Conversation('c1').watch();
	leave();
	await answerLoad([turn('t1')]);
	assert.deepEqual(open(), []);
});

test('what is still answered is followed after the try that succeeds', async () => {
	const conversation = new Conversation('c1');
	const leave = conversation.watch();
	await (await next('GET', '/threads/c1')).lose();
	assert.ok(conversation.problem.isLost);
	void conversation.load();
	await answerLoad([turn('t1', 'succeeded'), turn('t2')]);
	assert.deepEqual(open(), ['t2']);
	// Read again, the turns are others: none of the former ones stays open.
	void conversation.load();
	await answerLoad([turn('t1', 'succeeded'), turn('t2')]);
	assert.deepEqual(open(), ['t2']);
	leave();
	assert.deepEqual(open(), []);
});

test('the words of an answer are shown once, also after parts that come again or get lost', async () => {
	const conversation = new Conversation('c1');
	const leave = conversation.watch();
	await answerLoad([turn('t1')]);
	const token = (start, text, attempt = 1) => ({ kind: 'token', step: 1, attempt, agent: 'assistant', answer: 1, start, text });
	const words = async (...events) => {
		tell('t1', ...events);
		await settled();
		return conversation.turns[0].words;
	};
	// Places are counted in code points, of which an emoji is one.
	assert.equal(await words(token(0, '👍 Yes'), token(5, ', it')), '👍 Yes, it');
	assert.equal(await words(token(12, 'lost')), '👍 Yes, it');
	assert.equal(await words(token(0, '👍 Yes, it is')), '👍 Yes, it is');
	assert.equal(await words(token(0, 'No', 2)), 'No');
	assert.equal(await words({ seq: 3, kind: 'message', step: 1, role: 'assistant', text: 'No, it is not.' }), 'No, it is not.');
	tell('t1', { seq: 4, kind: 'session_finished' });
	await (await next('GET', '/turns/t1')).answer(turn('t1', 'succeeded'));
	assert.deepEqual([conversation.turns[0].isOver, open()], [true, []]);
	leave();
});

test('earlier messages are read once, however often they are asked for', async () => {
	const conversation = new Conversation('c1');
	void conversation.load();
	await answerLoad([turn('t3', 'succeeded')], 't3');
	const both = [conversation.loadEarlier(), conversation.loadEarlier()];
	await (await next('GET', '/threads/c1/messages')).answer(page([turn('t1', 'succeeded'), turn('t2', 'succeeded')], null));
	await Promise.all(both);
	assert.deepEqual(conversation.turns.map(({ view }) => view.turn_id), ['t1', 't2', 't3']);
	assert.deepEqual([conversation.hasEarlier, requests.length], [false, 0]);
});

test('a message that arrived though its answer was lost stands in the conversation once', async () => {
	const conversation = new Conversation('c1');
	const lost = assert.rejects(conversation.say('hello', []));
	const first = await next('POST', '/chat');
	await first.lose();
	await lost;
	void conversation.load();
	await answerLoad([turn('t1')]);
	const said = conversation.say('hello', []);
	const second = await next('POST', '/chat');
	assert.equal(second.key, first.key);
	await second.answer(turn('t1'), 201);
	await said;
	await settled();
	assert.equal(conversation.turns.length, 1);
});

test('what is said while the list is on its way stands at its end', async () => {
	const conversation = new Conversation('c1');
	const leave = conversation.watch();
	await (await next('GET', '/threads/c1')).answer({ id: 'c1', worldlines: [] });
	const list = await next('GET', '/threads/c1/messages');
	const said = conversation.say('more', []);
	await requests.find(({ method }) => method === 'POST').answer(turn('t2'), 201);
	await said;
	await list.answer(page([turn('t1', 'succeeded')], null));
	assert.deepEqual([conversation.turns.map(({ view }) => view.turn_id), open()], [['t1', 't2'], ['t2']]);
	leave();
});
