import assert from 'node:assert/strict';
import { test } from 'node:test';
import { separated } from '../../../frontend/src/lib/data/csv.ts';

test('a text that a spreadsheet would carry out gets an apostrophe, and a number none', () => {
	const rows = [['=1+1', -5], ['+49 30', 1.5], ['@all', null], ['-5', 0], ['a\tb', true]];
	const expected = ["'=name\tcount", "'=1+1\t-5", "'+49 30\t1.5", "'@all\t", '-5\t0', '"a\tb"\ttrue', ''];
	assert.equal(separated(['=name', 'count'], rows, '\t'), expected.join('\r\n'));
});
