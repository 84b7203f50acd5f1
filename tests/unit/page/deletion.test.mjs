import assert from 'node:assert/strict';
import { test } from 'node:test';
import { next, requests, settled } from './service.mjs';
import { api, read } from '../../../frontend/src/lib/api/client.ts';
import { ofIds, whileDeleting } from '../../../frontend/src/lib/api/deletion.ts';

const get = (dataset_id) => read(api.GET('/api/v1/datasets/{dataset_id}', { params: { path: { dataset_id } } }));
const query = (dataset_id) => read(api.POST('/api/v1/tables/query', { body: { source: { dataset_id } } }));
const remove = (dataset_id) => read(api.DELETE('/api/v1/datasets/{dataset_id}', { params: { path: { dataset_id } } }));

test('what is deleted is read no more, and everything else is', async () => {
	const answered = [];
	for (const reading of [get('d1'), query('d1'), get('d2')]) void reading.then((data) => answered.push(data.id));
	await settled();
	const deleted = whileDeleting(ofIds(['d1']), () => remove('d1'));
	void get('d1').then(() => assert.fail('It is gone.'));
	await settled();
	assert.deepEqual(requests.map(({ method, path }) => `${method} ${path}`), ['GET /datasets/d2', 'DELETE /datasets/d1']);
	await requests[1].answer({});
	await deleted;
	await requests[0].answer({ id: 'd2' });
	assert.deepEqual([answered, requests.length], [['d2'], 0]);
	// Who goes back to its address is told that there is no such thing.
	const again = assert.rejects(get('d1'), { status: 404 });
	await (await next('GET', '/datasets/d1')).answer({}, 404);
	await again;
});

test('what is not deleted after all is read then', async () => {
	const reading = get('d3');
	await settled();
	const refused = assert.rejects(whileDeleting(ofIds(['d3']), () => remove('d3')), { status: 409 });
	await (await next('DELETE', '/datasets/d3')).answer({}, 409);
	await refused;
	await (await next('GET', '/datasets/d3')).answer({ id: 'd3' });
	assert.equal((await reading).id, 'd3');
});

test('a table that is known to be deleted is not asked for again, nor anything of it', async () => {
	const [id, other] = ['11111111-2222-4333-8444-555555555555', '11111111-2222-4333-8444-666666666666'];
	const first = assert.rejects(get(id), { status: 404, code: 'dataset_not_found' });
	await (await next('GET', `/datasets/${id}`)).answer({ code: 'dataset_not_found', detail: 'There is no such table.' }, 404);
	await first;
	await assert.rejects(get(id), { status: 404, code: 'dataset_not_found', message: 'There is no such table.' });
	const schema = read(api.GET('/api/v1/datasets/{dataset_id}/schema', { params: { path: { dataset_id: id } } }));
	await assert.rejects(schema, { status: 404, code: 'dataset_not_found' });
	await settled();
	assert.equal(requests.length, 0);
	// Another refusal says nothing of the table, and neither does that of another one.
	const hidden = assert.rejects(get(other), { status: 404, code: 'note_not_found' });
	await (await next('GET', `/datasets/${other}`)).answer({ code: 'note_not_found' }, 404);
	await hidden;
	const again = get(other);
	await (await next('GET', `/datasets/${other}`)).answer({ id: other });
	assert.equal((await again).id, other);
});
