import { api, read, type Schema } from '#lib/api/client.ts';

type Row = Record<string, string>;

async function readRow(dataset_id: string, offset: number): Promise<Schema<'PreviewView'>> {
	const params = { path: { dataset_id }, query: { limit: 1, offset } };
	return await read(api.GET('/api/v1/datasets/{dataset_id}/preview', { params }));
}

/** Some row of the table that a model learned from, as texts; null where no table of its session has all of its columns. Throws Problem. */
export async function exampleRow(model: Schema<'ModelDetail'>): Promise<Row | null> {
	if (!model.session_id) return null;
	const params = { path: { session_id: model.session_id } };
	const session = await read(api.GET('/api/v1/lab/agent/sessions/{session_id}', { params }));
	const names = model.schema.filter((column) => column.required).map((column) => column.name);
	for (const dataset of session.dataset_ids) {
		const { total } = await readRow(dataset, 0);
		const { columns, rows } = await readRow(dataset, Math.floor(Math.random() * total));
		const places = names.map((name) => columns.findIndex((column) => column.name === name));
		if (places.includes(-1) || !rows[0]) continue;
		const cells = places.map((place) => String(rows[0]?.[place] ?? '').replace(/T00:00:00$/, '').trim());
		return Object.fromEntries(names.map((name, place) => [name, cells[place] ?? '']));
	}
	return null;
}
