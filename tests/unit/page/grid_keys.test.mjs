import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findColumn } from '../../../frontend/src/lib/data/grid-keys.ts';

const NAMES = ['order_id', 'Order', 'net amount', 'amount'];

for (const [words, place] of [
	['order', 1],
	['ORDER_', 0],
	['amount', 3],
	['net', 2],
	['mou', 2],
	['  ', null],
	['price', null]
]) {
	test(`“${words}” means column ${place}`, () => assert.equal(findColumn(NAMES, words), place));
}
