import { api, read } from '#lib/api/client.ts';
import type { Distribution } from '#lib/data/distribution.ts';
import { tableRows, type RowSelection, type TableSource } from '#lib/data/selection.ts';

/** The distribution of each column over the rows of a filter. The former ones stay until the new ones are there. */
export class Distributions {
	/** By the name of the column. */
	columns = $state.raw<ReadonlyMap<string, Distribution>>(new Map());
	/** Rows of the filter. */
	matching = $state(0);
	isReading = $state(false);
	readonly #source: TableSource;
	/** The filter that was read, or is: an order changes no distribution. */
	#key = '';

	constructor(source: TableSource) {
		this.#source = source;
	}

	open(selection: RowSelection): void {
		const { filter, search } = tableRows(selection);
		const key = JSON.stringify([filter, search]);
		if (key !== this.#key) void this.#read({ ...(filter && { filter }), ...(search && { search }) }, key);
	}

	async #read(rows: Omit<ReturnType<typeof tableRows>, 'sort'>, key: string): Promise<void> {
		[this.#key, this.isReading] = [key, true];
		try {
			const body = { source: this.#source, ...rows };
			const summary = await read(api.POST('/api/v1/tables/summary', { body }));
			if (key !== this.#key) return;
			this.columns = new Map(summary.columns.map((column) => [column.name, column]));
			this.matching = summary.matching;
		} catch {
			// The rows are there without them; the next filter tries again.
			if (key === this.#key) [this.columns, this.#key] = [new Map(), ''];
		}
		if (key === this.#key || !this.#key) this.isReading = false;
	}
}
