import { asProblem, type Problem } from '#lib/api/client.ts';
import { untrack } from 'svelte';

/** Something that is read from the service. The last answer stays while a new one comes. */
export class Resource<Data> {
	data = $state.raw<Data | null>(null);
	problem = $state<Problem | null>(null);
	isLoading = $state(false);
	readonly #read: () => Promise<Data>;

	constructor(read: () => Promise<Data>) {
		this.#read = read;
	}

	load = async (): Promise<void> => {
		this.isLoading = true;
		try {
			this.data = await this.#read();
			this.problem = null;
		} catch (error) {
			this.problem = asProblem(error);
		}
		this.isLoading = false;
	};
}

/** Something that the user changes. A refusal stays until the next try; after a success `reload` reads what has changed. */
export class Change {
	problem = $state<Problem | null>(null);
	isRunning = $state(false);
	readonly #reload: () => unknown;

	constructor(reload: () => unknown = () => undefined) {
		this.#reload = reload;
	}

	/** Carry one change out. While it runs no other begins: a second click would repeat it. */
	run = async (work: () => Promise<unknown>): Promise<void> => {
		if (this.isRunning) return;
		[this.problem, this.isRunning] = [null, true];
		try {
			await work();
			await this.#reload();
		} catch (error) {
			this.problem = asProblem(error);
		}
		this.isRunning = false;
	};
}

interface Page<Item> {
	items: Item[];
	next_cursor?: string | null;
	total?: number;
}

/** A list that is read page by page, by the cursor of the page before. */
export class PagedList<Item> {
	items = $state.raw<Item[]>([]);
	next = $state<string | null>(null);
	/** Of all pages, as the first one said. */
	total = $state<number | null>(null);
	isLoaded = $state(false);
	problem = $state<Problem | null>(null);
	readonly #read: (after: string | undefined) => Promise<Page<Item>>;
	/** What tells items apart, where a page may bring items of the page before again. */
	readonly #key: ((item: Item) => unknown) | undefined;
	/** The newest reading: what an older one brings is dropped. */
	#reading: Promise<Page<Item>> | null = null;

	constructor(read: (after: string | undefined) => Promise<Page<Item>>, key?: (item: Item) => unknown) {
		this.#read = read;
		this.#key = key;
	}

	/** Read the next page, at first the first one. Nothing is read while a page is on its way. */
	more = async (): Promise<void> => {
		// An effect that asks for the first page must not run again when the next one is known.
		if (!this.#reading) await this.#readPage(untrack(() => this.next));
	};

	/** Read the first page again. The former items stay until it has come. */
	reload = (): Promise<void> => this.#readPage(null);

	/** Read again what has been read: after a change, or after it may have changed. */
	refresh = (): Promise<void> => this.readTo(this.items.length);

	/** Read pages until as many items have come as the reader had seen: he goes on where he left. */
	readTo = async (count: number): Promise<void> => {
		await this.reload();
		while (this.items.length < count && this.next && !this.problem) await this.more();
	};

	async #readPage(after: string | null): Promise<void> {
		const reading = (this.#reading = this.#read(after ?? undefined));
		try {
			const page = await reading;
			if (reading !== this.#reading) return;
			this.items = after ? [...this.items, ...this.#leaveOutShown(page.items)] : page.items;
			this.next = page.next_cursor ?? null;
			this.total = page.total ?? null;
			this.isLoaded = true;
			this.problem = null;
		} catch (error) {
			if (reading === this.#reading) this.problem = asProblem(error);
		}
		if (reading === this.#reading) this.#reading = null;
	}

	#leaveOutShown(items: Item[]): Item[] {
		const key = this.#key;
		if (!key) return items;
		const shown = new Set(this.items.map(key));
		return items.filter((item) => !shown.has(key(item)));
	}
}

/** Items of one page of a list with numbered pages. */
const PAGE_ITEMS = 50;

/**
 * A list whose pages are numbered, as one that is read page by page. What came since the first page moves the last
 * items of a page to the next one: they are shown once.
 */
export function numberedList<Item extends { id: string | number }>(read: (query: { limit: number; offset: number }) => Promise<Item[] | { items: Item[]; total: number }>): PagedList<Item> {
	const readPage = async (after: string | undefined): Promise<Page<Item>> => {
		const offset = Number(after ?? 0);
		const page = await read({ limit: PAGE_ITEMS, offset });
		const [items, total] = Array.isArray(page) ? [page, undefined] : [page.items, page.total];
		const end = offset + items.length;
		const hasMore = total === undefined ? items.length === PAGE_ITEMS : end < total;
		return { items, next_cursor: hasMore ? String(end) : null, ...(total !== undefined && { total }) };
	};
	return new PagedList(readPage, (item) => item.id);
}
