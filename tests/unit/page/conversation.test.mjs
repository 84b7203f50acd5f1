import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { next, requests, settled } from './service.mjs';
import { Conversation } from '../../../frontend/src/lib/chat/conversation.svelte.ts';

mock.timers.enable({ apis: ['setTimeout'] });

/** The browser's end of the events of one turn. */
class Source {
	static all = [];

	constructor() {
		Source.all.push(this);
	}

	addEventListener() {}

	close() {
		this.isClosed = true;
	}
}
globalThis.EventSource = Source;
const open = () => Source.all.filter((source) => !source.isClosed);

beforeEach(() => (Source.all.length = 0));

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
	assert.equal(Source.all.length, 0);
});

test('what is still answered is followed after the try that succeeds', async () => {
	const conversation = new Conversation('c1');
	const leave = conversation.watch();
	await (await next('GET', '/threads/c1')).lose();
	assert.ok(conversation.problem.isLost);
	void conversation.load();
	await answerLoad([turn('t1', 'succeeded'), turn('t2')]);
	assert.equal(open().length, 1);
	// Read again, the turns are others: none of the former ones stays open.
	void conversation.load();
	await answerLoad([turn('t1', 'succeeded'), turn('t2')]);
	assert.equal(open().length, 1);
	leave();
	assert.equal(open().length, 0);
});

test('a turn whose connection was lost is not opened again after it was left', async () => {
	const leave = new Conversation('c1').watch();
	await answerLoad([turn('t1')]);
	Source.all[0].onerror({});
	mock.timers.tick(2000);
	const reading = await next('GET', '/turns/t1');
	leave();
	await reading.answer(turn('t1'));
	assert.equal(open().length, 0);
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
