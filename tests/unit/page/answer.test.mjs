import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerText } from '../../../frontend/src/lib/chat/answer.ts';

test('choices that stand below an answer as buttons are not in its words', () => {
	assert.equal(answerText('The study asks: Which one? (1) amount (2) cost', [], ['amount', 'cost']), 'The study asks: Which one?');
	assert.equal(answerText('Do you mean 1. the mean; 2. the sum?', [], ['the mean', 'the sum']), 'Do you mean');
	assert.equal(answerText('Do you mean the mean? Say yes.', [], ['the mean']), 'Do you mean');
	assert.equal(answerText('It has the amount and the cost.', [], ['amount', 'cost']), 'It has the amount and the cost.');
	assert.equal(answerText('The study asks: Is amount right? (1) amount (2) cost', [], ['amount', 'cost']), 'The study asks: Is amount right?');
	assert.equal(answerText('No choice.', [], []), 'No choice.');
});
