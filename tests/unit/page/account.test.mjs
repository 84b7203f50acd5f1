import assert from 'node:assert/strict';
import { test } from 'node:test';
import { next, requests, settled } from './service.mjs';

/** The channel between the tabs of a browser, which delivers at once. */
const channels = [];
globalThis.BroadcastChannel = class {
	constructor() {
		channels.push(this);
	}

	postMessage(data) {
		for (const channel of channels) if (channel !== this) channel.onmessage({ data });
	}
};
let reloads = 0;
const addresses = [];
globalThis.location = { reload: () => (reloads += 1), assign: (address) => addresses.push(address) };

const { Account } = await import('../../../frontend/src/lib/api/account.svelte.ts');
const { stream } = await import('../../../frontend/src/lib/stream/stream.svelte.ts');

async function signIn(tab, id) {
	const done = tab.signIn({ email: 'a@example.com', password: 'secret' });
	await (await next('POST', '/auth/session')).answer({});
	await (await next('GET', '/auth/me')).answer({ id });
	await done;
}

test('tabs of the user who signs in go on, and those of another user show nothing any more', async (context) => {
	const resumed = context.mock.method(stream, 'resume');
	const [former, sameUser, signedOut] = [new Account(), new Account(), new Account()];
	[former.user, sameUser.user] = [{ id: 'a' }, { id: 'b' }];
	await signIn(new Account(), 'b');
	assert.deepEqual([reloads, resumed.mock.callCount()], [1, 2]);
	assert.equal(signedOut.user, null);
});

test('who signs out reads nothing more, and where that fails is told and goes on', async () => {
	const tab = new Account();
	tab.user = { id: 'c' };
	void tab.signOut();
	const first = await next('DELETE', '/auth/session');
	void tab.load();
	await settled();
	assert.deepEqual([requests.length, tab.isLeaving], [1, true]);
	await first.lose();
	assert.ok(tab.signingOut.problem.isLost);
	assert.equal(tab.isLeaving, false);
	await (await next('GET', '/auth/me')).answer({ id: 'c' });
	void tab.signOut();
	// It had ended already, such as in another browser.
	await (await next('DELETE', '/auth/session')).answer({ code: 'not_signed_in' }, 401);
	void tab.load();
	await settled();
	assert.deepEqual([addresses, requests.length, tab.signingOut.problem], [['/sign-in'], 0, null]);
});
