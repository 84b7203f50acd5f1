import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchingNames, mentionAt, withName } from '../../../frontend/src/lib/chat/mentions.ts';

for (const [text, beginning] of [
	['@', ''],
	['mean @fa', 'fa'],
	['mean\n@fare', 'fare'],
	['ada@example', null],
	['@fare by', null],
	['', null]
]) {
	test(`the mention at the end of ${JSON.stringify(text)}`, () => assert.equal(mentionAt(text, text.length)?.beginning ?? null, beginning));
}

test('names that begin so come before those that have it elsewhere', () => {
	const names = ['class', 'fare', 'airfare', 'Farewell'].map((name) => ({ name, about: '', table: null }));
	assert.deepEqual(matchingNames(names, 'fare').map(({ name }) => name), ['fare', 'Farewell', 'airfare']);
	assert.equal(matchingNames(Array(20).fill(names[0]), '').length, 8);
});

test('a name takes the place of what was written of it, and the caret stands behind it', () => {
	const mention = mentionAt('mean @fa by sex', 8);
	assert.deepEqual(withName('mean @fa by sex', mention, 'fare'), { text: 'mean fare by sex', caret: 10 });
});
