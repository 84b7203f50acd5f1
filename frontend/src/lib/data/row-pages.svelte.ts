import { api, asProblem, read, type Problem, type Schema } from '#lib/api/client.ts';
import { tableRows, type RowSelection, type TableSource } from '#lib/data/selection.ts';
import { untrack } from 'svelte';

const PAGE_ROWS = 100;
/** Of 100 rows each: some screens around the place that is looked at, and where one was before. */
const MAX_PAGES = 40;

type Row = readonly unknown[];
interface Span {
	first: number;
	last: number;
}

/** The rows of a table, read by page as they come into view. The former rows stay until the first new ones are there. */
export class RowPages {
	columns = $state.raw<Schema<'ColumnView'>[]>([]);
	/** Rows of the table, and those that the selection leaves. */
	total = $state(0);
	matching = $state(0);
	/** Whether the first rows of the selection are on their way. */
	isOpening = $state(true);
	problem = $state<Problem | null>(null);
	readonly #source: TableSource;
	#selection: RowSelection = {};
	#pages = $state.raw(new Map<number, readonly Row[]>());
	#span: Span = { first: 0, last: 0 };
	/** The reading that may still write here: one of a former selection must not. */
	#reading: object | null = null;

	constructor(source: TableSource) {
		this.#source = source;
	}

	/** The row at a place of the order, from 0; nothing while it is not there. */
	row = (place: number): Row | undefined => this.#pages.get(Math.floor(place / PAGE_ROWS))?.[place % PAGE_ROWS];

	/** Read the table in another order, or other rows of it. */
	open(selection: RowSelection): void {
		[this.#selection, this.#reading, this.isOpening] = [selection, null, true];
		this.#span = { first: 0, last: 0 };
		// Who opens a table in an effect must not do so again for what is read.
		untrack(() => void this.#readOn());
	}

	/** Say which rows are in view; those that are missing are read, one page at a time. */
	show(first: number, last: number): void {
		this.#span = { first, last };
		untrack(() => {
			if (!this.#reading && !this.problem) void this.#readOn();
		});
	}

	retry = (): Promise<void> => this.#readOn();

	async #readOn(): Promise<void> {
		const reading = (this.#reading = {});
		this.problem = null;
		try {
			for (let page = this.#missing(); page !== null && reading === this.#reading; page = this.#missing()) {
				await this.#readPage(page, reading);
			}
		} catch (error) {
			if (reading === this.#reading) this.problem = asProblem(error);
		}
		if (reading === this.#reading) this.#reading = null;
	}

	/** The first page in view that is not there: views move on while a page is read, so it is looked for anew each time. */
	#missing(): number | null {
		if (this.isOpening) return 0;
		const last = Math.floor(Math.min(this.#span.last, this.matching - 1) / PAGE_ROWS);
		for (let page = Math.floor(this.#span.first / PAGE_ROWS); page <= last; page += 1) {
			if (!this.#pages.has(page)) return page;
		}
		return null;
	}

	async #readPage(page: number, reading: object): Promise<void> {
		const rows: Row[] = [];
		let answer: Schema<'PreviewView'>;
		do {
			const span = { offset: page * PAGE_ROWS + rows.length, limit: PAGE_ROWS - rows.length };
			const body = { source: this.#source, ...tableRows(this.#selection), ...span };
			answer = await read(api.POST('/api/v1/tables/query', { body }));
			rows.push(...answer.rows);
			// Of rows with long texts the service sends fewer than it was asked for.
		} while (answer.rows.length && rows.length < Math.min(PAGE_ROWS, answer.matching - page * PAGE_ROWS));
		if (reading !== this.#reading) return;
		const pages = new Map(this.isOpening ? [] : this.#pages).set(page, rows);
		for (const oldest of [...pages.keys()].slice(0, Math.max(0, pages.size - MAX_PAGES))) pages.delete(oldest);
		[this.columns, this.total, this.matching] = [answer.columns, answer.total, answer.matching];
		[this.#pages, this.isOpening] = [pages, false];
	}
}
