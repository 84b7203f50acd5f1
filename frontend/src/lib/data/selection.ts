import type { paths } from '#lib/api/schema.d.ts';

type Query = NonNullable<paths['/api/v1/datasets/{dataset_id}/preview']['get']['parameters']['query']>;

/** Which rows of a table, and in which order: members of the query of a preview. */
export type RowSelection = Omit<Query, 'limit' | 'offset'>;
export type Comparison = NonNullable<Query['comparison']>;

/** The next order by a column: rising, falling, that of the file. */
export function nextSort(selection: RowSelection, column: string): RowSelection {
	const { sort, descending, ...filter } = selection;
	if (sort !== column) return { ...filter, sort: column };
	return descending ? filter : { ...filter, sort: column, descending: true };
}
