import type { Schema } from '#lib/api/client.ts';
import type { paths } from '#lib/api/schema.d.ts';

type Query = NonNullable<paths['/api/v1/datasets/{dataset_id}/preview']['get']['parameters']['query']>;

type Conditions = NonNullable<Schema<'TableQuery'>['filter']>;

/** A table that was uploaded, or one that an answer came to. */
export type TableSource = { dataset_id: string } | { artifact_id: string };

/** Which rows of a table, and in which order, as an address holds it: members of the query of a preview. */
export type RowSelection = Omit<Query, 'limit' | 'offset'>;
export type Comparison = NonNullable<Query['comparison']>;

/** The next order by a column: rising, falling, that of the file. */
export function nextSort(selection: RowSelection, column: string): RowSelection {
	const { sort, descending, ...filter } = selection;
	if (sort !== column) return { ...filter, sort: column };
	return descending ? filter : { ...filter, sort: column, descending: true };
}

/** The same as the parts of a request for rows or figures. */
export function tableRows(selection: RowSelection): { filter?: Conditions; search?: string; sort?: Schema<'SortedBy'>[] } {
	const { sort, descending = false, filter_column: column, comparison = '=', value = '', search } = selection;
	return {
		...(column != null && { filter: { column, comparison, ...(comparison !== 'missing' && { value }) } }),
		...(search && { search }),
		...(sort != null && { sort: [{ column: sort, descending }] })
	};
}

const COMPARISONS: readonly string[] = ['=', '!=', '<', '<=', '>', '>=', 'contains', 'missing'] satisfies Comparison[];

/** The selection that an address names; what it does not know of an address is left out. */
export function readSelection(address: Pick<URLSearchParams, 'get'>): RowSelection {
	const [sort, filter_column, search] = [address.get('sort'), address.get('filter_column'), address.get('search')];
	const comparison = address.get('comparison') ?? '=';
	return {
		...(sort && { sort, descending: address.get('descending') === 'true' }),
		...(filter_column && COMPARISONS.includes(comparison) && { filter_column, comparison: comparison as Comparison, value: address.get('value') ?? '' }),
		...(search && { search })
	};
}

/** The address of this place with a selection, for a reload, a bookmark or a colleague. */
export function selectionAddress(place: { readonly pathname: string }, selection: RowSelection): string {
	const members = Object.entries(selection).map(([name, value]) => [name, String(value)]);
	const query = new URLSearchParams(members).toString();
	return query ? `${place.pathname}?${query}` : place.pathname;
}
