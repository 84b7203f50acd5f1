import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
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

beforeEach(() => {
	Object.assign(globalThis, { WebSocket: Socket, location: new URL('http://localhost/') });
	// Timers of a hub that nobody closes would end long after their test.
	mock.timers.enable({ apis: ['setTimeout', 'Date'] });
});
afterEach(() => {
	mock.timers.reset();
	delete globalThis.location;
});

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

/** A tab that keeps all that it is told. */
function makeWatcher(hub) {
	const messages = [];
	const tab = { messages, send: (message) => messages.push(message) };
	hub.take(tab, { kind: 'watch', name: 't1', topic: { session: 'a', since: 0 } });
	return tab;
}

test('watches outlive the end of a sign-in, and go on from their cursors after the next one', async () => {
	const hub = new Hub();
	const tab = makeWatcher(hub);
	await Promise.resolve();
	Socket.last.say({ kind: 'hello' });
	Socket.last.say({ kind: 'events', watch: 'w1', events: [{ seq: 4 }] });
	Socket.last.onclose({ code: 4401 });
	const again = Socket.last;
	// The cookie may be newer than the socket: it is refused before its greeting.
	again.onclose({ code: 4401 });
	assert.deepEqual(tab.messages.at(-1), { kind: 'connection', lostSince: null, isSignedOut: true });
	assert.equal(Socket.last, again);

	hub.take(tab, { kind: 'resume' });
	await Promise.resolve();
	assert.deepEqual(Socket.last.sent, [{ type: 'watch', watch: 'w1', session: 'a', since: 4 }]);
	Socket.last.say({ kind: 'hello' });
	assert.deepEqual(tab.messages.at(-1), { kind: 'connection', lostSince: null, isSignedOut: false });
	Socket.last.say({ kind: 'events', watch: 'w1', events: [{ seq: 5 }] });
	assert.equal(tab.messages.at(-1).kind, 'frame');
});

/** What a tab tells the hub after the machine slept, its network came back, or its user looked at it again. */
const seen = (isNetworkNew) => ({ kind: 'check', isNetworkNew });

test('a socket that is silent for two heartbeats is closed, and made again', async () => {
	const hub = new Hub();
	const tab = makeWatcher(hub);
	await Promise.resolve();
	const socket = Socket.last;
	socket.say({ kind: 'hello' });
	for (let count = 0; count < 4; count += 1) {
		mock.timers.tick(15_000);
		socket.say({ type: 'heartbeat' });
	}
	assert.ok(!socket.isClosed);
	mock.timers.tick(40_000);
	assert.ok(socket.isClosed);
	mock.timers.tick(1000);
	assert.equal(tab.messages.at(-1).kind, 'connection');
	assert.notEqual(Socket.last, socket);
});

test('a late socket is made again when its tab is seen, and any when the network is another one', async () => {
	const hub = new Hub();
	const tab = makeWatcher(hub);
	await Promise.resolve();
	const first = Socket.last;
	first.say({ kind: 'hello' });
	hub.take(tab, seen(false));
	assert.equal(Socket.last, first);
	mock.timers.tick(25_000);
	hub.take(tab, seen(false));
	const second = Socket.last;
	assert.deepEqual([first.isClosed, second === first], [true, false]);

	// Every tab says that the network is another one: one connection is enough.
	second.say({ kind: 'hello' });
	hub.take(tab, seen(true));
	const third = Socket.last;
	hub.take(tab, seen(true));
	assert.deepEqual([third === second, Socket.last === third], [false, true]);

	// A connection that waits for its next try is tried at once.
	third.onclose({ code: 1006 });
	hub.take(tab, seen(false));
	assert.notEqual(Socket.last, third);
});
