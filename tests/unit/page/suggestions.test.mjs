import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suggestedGoal, suggestedQuestions } from '../../../frontend/src/lib/data/suggestions.ts';

const column = (name, values) => ({ name, type: 'text', hint: 'category', missing: 0, distinct: 2, isUnique: false, top: [], quantiles: null, days: null, ...values });
const quantity = (name) => column(name, { type: 'number', hint: 'numeric', distinct: 90, quantiles: [0, 1, 2, 3, 4] });

test('a name with signs or spaces stands between backticks, and a plain one alone', () => {
	assert.deepEqual(suggestedQuestions([quantity('Amount ($)'), column('Paid?'), column('region')]), [
		'Mean `Amount ($)` by `Paid?`',
		'How many rows by region?',
		'What is the maximum `Amount ($)`?'
	]);
	assert.deepEqual(suggestedQuestions([quantity('Größe_2'), column('region')])[0], 'Mean Größe_2 by region');
	assert.equal(suggestedGoal([quantity('days'), column('Paid?')]), 'Predict `Paid?`');
});

test('a name that has a backtick cannot be quoted by one', () => {
	assert.equal(suggestedGoal([quantity('a`b')]), 'Predict a`b');
});
