import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findEarlier } from '../../../frontend/src/lib/data/same_file.ts';

const table = (id, source_digest, hour) => ({ id, source_digest, created_at: `2026-01-01T0${hour}:00:00Z` });

test('of tables of one file the first is named, and itself has none before it', () => {
	const tables = [table('third', 'a', 3), table('other', 'b', 2), table('second', 'a', 2), table('first', 'a', 1)];
	assert.deepEqual(tables.map((each) => findEarlier(each, tables)?.id), ['first', undefined, 'first', undefined]);
});
