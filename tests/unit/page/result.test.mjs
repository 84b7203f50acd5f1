import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerResult, jobResult, modelResult, nodeResult, runResult } from '../../../frontend/src/lib/results/result.ts';

const COLUMNS = [{ name: 'port', type: 'text' }];

test('the rows that answer a session are a table with its SQL, and only calls of the answer are its evidence', () => {
	const answer = { columns: COLUMNS, rows: [['Kiel']], row_count: 40, truncated: true, language: 'sql', code: 'SELECT 1', rows_used: 50, total_rows: 60 };
	const result = answerResult('s1', answer, 'a1');
	assert.deepEqual([result.table.row_count, result.table.artifact, result.table.rows_used, result.table.rows_there], [40, 'a1', 50, 60]);
	assert.deepEqual([result.sql, result.code], ['SELECT 1', '']);
	assert.deepEqual([result.isOwnCall('answering', 'tool:0.0'), result.isOwnCall('planning', 'tool:0.0')], [true, false]);
});

for (const answer of [null, 'text', { value: 3, rows: null }, { rows: [], columns: [] }]) {
	test(`${JSON.stringify(answer)} is no table`, () => assert.equal(answerResult('s1', answer, null), null));
}

test('a run has its own text as code, and what it became as SQL', () => {
	const run = { id: 'r1', language: 'plan', code: '{}', compiled_sql: 'SELECT 2', stdout: '', stderr: '', artifacts: [], table: null, outcome: null };
	assert.deepEqual([runResult(run).sql, runResult(run).code], ['SELECT 2', '{}']);
	const sql = runResult({ ...run, language: 'sql', code: 'SELECT 3' });
	assert.deepEqual([sql.sql, sql.code], ['SELECT 3', null]);
});

test('columns of a run have the types that it returned, and none where it returned none', () => {
	const table = { columns: ['port', 'new'], rows: [['Kiel', 1]], row_count: 1, truncated: false };
	const run = { id: 'r1', language: 'python', code: '', stdout: '', stderr: '', artifacts: [], table, outcome: { columns: COLUMNS } };
	assert.deepEqual(runResult(run).table.columns, [COLUMNS[0], { name: 'new' }]);
});

test('of a run of a workflow only the calls of the node are its evidence', () => {
	const node = { columns: COLUMNS, preview: [['Kiel']], rows: 30 };
	const result = nodeResult('r1', 'top', node, undefined);
	assert.deepEqual([result.table.truncated, result.charts], [true, []]);
	assert.deepEqual(['tool:top', 'tool:top:2', 'tool:topmost'].map((call) => result.isOwnCall('running', call)), [true, true, false]);
});

test('the drawing of a model is the one that shows its answer', () => {
	const file = (id, name, title) => ({ id, name, kind: 'figure', meta: { title } });
	const files = [file('i', 'importances.svg', 'Importance'), file('r', 'roc.svg', 'ROC curve'), file('c', 'confusion.svg', 'Confusion'), file('p', 'confusion.png', 'Confusion')];
	const result = modelResult('s1', files, null);
	assert.deepEqual(result.picture, { id: 'c', title: 'Confusion' });
	assert.deepEqual([result.isOwnCall('final_evaluation', 'tool:0.0'), result.isOwnCall('planning', 'tool:0.0')], [true, false]);
	assert.equal(modelResult('s1', files.slice(0, 1), null), null);
});

test('a forecast has its rows beside its drawing', () => {
	const table = { columns: COLUMNS, rows: [['Kiel']], row_count: 14, truncated: true, artifact: 'a1' };
	const result = modelResult('s1', [{ id: 'f', name: 'forecast.svg', kind: 'figure' }], table);
	assert.deepEqual([result.picture.id, result.table], ['f', table]);
	assert.equal(modelResult('s1', [], table).picture, null);
});

test('the answer of a job has the same parts as others, but no recorded calls', () => {
	const preview = { columns: COLUMNS, rows: [['Kiel']], row_count: 4, truncated: true, sql: 'SELECT 1', charts: [{ id: 'c1', title: 'Ports', problem: null }] };
	const result = jobResult({ answer: { result_ref: 'artifact://a1', result_preview: preview } });
	assert.deepEqual([result.session, result.sql, result.charts[0].id], [null, 'SELECT 1', 'c1']);
	assert.deepEqual([result.table.artifact, result.table.row_count, result.table.truncated], ['a1', 4, true]);
	assert.equal(jobResult({ answer: { result_preview: { text: 'Saved.' } } }), null);
});
