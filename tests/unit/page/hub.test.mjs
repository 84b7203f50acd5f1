import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Hub } from '../../../frontend/src/lib/stream/hub.ts';

/** The service's end of a socket, which only the hub under test has here. */
class Socket {
	static OPEN = 1;
	readyState = 0;
	sent = [];

	constructor() {
		Socket.last = this;
		queueMicrotask(() => {
			this.readyState = Socket.OPEN;
			this.onopen();
		});
	}

	send(text) {
		this.sent.push(JSON.parse(text));
	}

	say(frame) {
		this.onmessage({ data: JSON.stringify(frame) });
	}

	close() {
		this.isClosed = true;
	}
}

beforeEach(() => Object.assign(globalThis, { WebSocket: Socket, location: new URL('http://localhost/') }));
afterEach(() => delete globalThis.location);

function makeTab() {
	const frames = [];
	return { frames, send: (message) => frames.push(message.name) };
}

test('the lists of all tabs are watched once, and each tab learns of a change', async () => {
	const hub = new Hub();
	const tabs = [makeTab(), makeTab()];
	for (const tab of tabs) hub.take(tab, { kind: 'watch', name: 't1', topic: { lists: true } });
	await Promise.resolve();
	hub.take(tabs[0], { kind: 'watch', name: 't2', topic: { lists: true } });
	const socket = Socket.last;
	assert.deepEqual(socket.sent, [{ type: 'watch_lists', watch: 'lists' }]);
	socket.say({ kind: 'lists', position: 7 });
	assert.deepEqual(tabs.map((tab) => tab.frames), [['t1', 't2'], ['t1']]);

	hub.take(tabs[0], { kind: 'bye' });
	assert.equal(socket.sent.length, 1);
	hub.take(tabs[1], { kind: 'unwatch', name: 't1' });
	assert.deepEqual(socket.sent.at(-1), { type: 'unwatch', watch: 'lists' });
	assert.ok(socket.isClosed);
});

test('each session is watched for itself, and its end ends its own watch', async () => {
	const hub = new Hub();
	const tab = makeTab();
	for (const name of ['t1', 't2']) hub.take(tab, { kind: 'watch', name, topic: { session: 'a', since: 0 } });
	await Promise.resolve();
	const socket = Socket.last;
	assert.deepEqual(socket.sent.map(({ watch }) => watch), ['w1', 'w2']);
	socket.say({ kind: 'ended', watch: 'w1' });
	socket.say({ kind: 'events', watch: 'w1', events: [] });
	socket.say({ kind: 'events', watch: 'w2', events: [] });
	assert.deepEqual(tab.frames, ['t1', 't2']);
});
