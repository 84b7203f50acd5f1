import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ago, amount, beginning, chance, duration, moment, score, words } from '../../../frontend/src/lib/format.ts';

const check = (name, format, cases) => {
	for (const [value, expected, ...rest] of cases) test(`${name} of ${value}`, () => assert.equal(format(value, ...rest), expected));
};

check('a duration', duration, [
	[0.0004, '1 ms'],
	[0.9996, '1.0 s'],
	[9.96, '10 s'],
	[59.4, '59 s'],
	[59.7, '1 min'],
	[119.6, '2 min'],
	[125, '2 min 5 s'],
	[3599.7, '1 h'],
	[3660, '1 h 1 min'],
	[7199, '2 h']
]);

const NOW = Date.parse('2026-03-10T12:00:00Z');
const before = (minutes) => new Date(NOW - minutes * 60_000).toISOString();
for (const [minutes, expected] of [
	[0.2, 'just now'],
	[1, '1 minute ago'],
	[59.6, '1 hour ago'],
	[23 * 60 + 59.7, '1 day ago'],
	[35 * 60, '1 day ago'],
	[-120, 'in 2 hours']
]) {
	test(`${minutes} minutes before`, () => assert.equal(ago(before(minutes), NOW), expected));
}

test('a moment of another year has its year', () => {
	assert.ok(!moment('2026-01-05T12:00:00Z', NOW).includes('2026'));
	assert.ok(moment('2025-01-05T12:00:00Z', NOW).includes('2025'));
});

check('a score', score, [
	[null, '–', 'mae'],
	[0.8123, '0.812', 'roc_auc'],
	[0.99961, '0.99961', 'roc_auc'],
	[1, '1.000', 'roc_auc'],
	[0, '0.000', 'r2'],
	[0.00042, '0.00042', 'mae'],
	[-0.0002, '-0.0002', 'roc_auc'],
	[0.042, '0.042', 'mae'],
	[12.3456, '12.346', 'mae'],
	[123.456, '123.5', 'mae'],
	[31245678.9, '31,245,678.9', 'rmse'],
	[0.127, '12.7 %', 'mape'],
	[0.000042, '0.0042 %', 'mape']
]);

check('a probability', chance, [
	[0, '0 %'],
	[0.004, '< 1 %'],
	[0.126, '13 %'],
	[0.998, '> 99 %'],
	[1, '100 %']
]);

check('a number of rows', amount, [
	[0, '0 rows', 'row'],
	[1, '1 row', 'row'],
	[1200, '1,200 rows', 'row']
]);

check('a name of the API', words, [
	['model_training', 'Model training'],
	['cost_usd', 'Cost (USD)'],
	['time_limit_s', 'Time limit (s)']
]);

for (const [text, length, shown] of [
	['short', 10, 'short'],
	['There is no column, or so', 20, 'There is no column…'],
	['x'.repeat(30), 10, `${'x'.repeat(9)}…`]
]) {
	test(`the beginning of ${text} in ${length} characters`, () => assert.equal(beginning(text, length), shown));
}
