import type { Schema } from '#lib/api/client.ts';

type Uploaded = Pick<Schema<'DatasetView'>, 'id' | 'source_digest' | 'created_at'>;

/** The first of some tables that was made of the same file as one of them, and before it; null where there is none. */
export function findEarlier<Table extends Uploaded>(table: Uploaded, others: readonly Table[]): Table | null {
	const same = others.filter((other) => other.source_digest === table.source_digest && Date.parse(other.created_at) < Date.parse(table.created_at));
	return same.sort((one, other) => Date.parse(one.created_at) - Date.parse(other.created_at))[0] ?? null;
}
