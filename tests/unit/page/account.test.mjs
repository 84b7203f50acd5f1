import assert from 'node:assert/strict';
import { test } from 'node:test';
import { next } from './service.mjs';

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
globalThis.location = { reload: () => (reloads += 1) };

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
