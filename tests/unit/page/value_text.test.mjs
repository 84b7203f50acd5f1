import assert from 'node:assert/strict';
import { test } from 'node:test';
import { valueText } from '../../../frontend/src/lib/compare/value-text.ts';

for (const [setting, value, text] of [
	['stages', ['data_retrieval', 'split'], 'data retrieval, split'],
	// A column of the user keeps its name.
	['target', 'days_open', 'days_open'],
	['every_step', true, 'yes'],
	['budget', { seconds: 3600, cost_usd: null }, 'seconds: 3,600'],
	['budget', {}, '–'],
	['exclude', [], '–'],
	['exclude', null, '–'],
	['horizon', 30, '30']
]) {
	test(`${setting} ${JSON.stringify(value)} is read as ${text}`, () => assert.equal(valueText(setting, value), text));
}
