import assert from 'node:assert/strict';
import { test } from 'node:test';
import { separated } from '../../../frontend/src/lib/data/csv.ts';

test('every sign at which the exports of the API write an apostrophe gets one here', () => {
	for (const sign of ['=', '+', '-', '@', '\t', '\r', '\n', '\uff1d', '\uff0b', '\uff0d', '\uff20'])
		assert.match(separated(['a'], [[`${sign}1+1`]]), /\n"?'/, JSON.stringify(sign));
});

test('a text that a spreadsheet would carry out gets an apostrophe, and a number none', () => {
	const rows = [['=1+1', -5], ['+49 30', 1.5], ['@all', null], ['-5', 0], ['a\tb', true]];
	const expected = ["'=name\tcount", "'=1+1\t-5", "'+49 30\t1.5", "'@all\t", '-5\t0', '"a\tb"\ttrue', ''];
	assert.equal(separated(['=name', 'count'], rows, '\t'), expected.join('\r\n'));
});
