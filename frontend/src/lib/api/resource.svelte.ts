import { AnswerOrder } from '#lib/api/answer_order.ts';
import { asProblem, type Problem } from '#lib/api/client.ts';

/**
 * Something that is read from the service. The last answer stays while a new one comes, and no older answer replaces it.
 * Where the reading depends on what the user chooses, `key` tells one choice from another: nothing of another is shown.
 */
export class Resource<Data> {
	data = $state.raw<Data | null>(null);
	problem = $state<Problem | null>(null);
	isLoading = $state(false);
	readonly #read: () => Promise<Data>;
	readonly #key: () => unknown;
	readonly #order = new AnswerOrder();
	#lastKey: unknown;
	/** Requests that have not been answered. */
	#open = 0;

	constructor(read: () => Promise<Data>, key: () => unknown = () => undefined) {
		this.#read = read;
		this.#key = key;
	}

	/** Read it, unless it has been read or is on its way. For a click or an opening, not for an effect. */
	begin = async (): Promise<void> => {
		if (this.data === null && !this.isLoading) await this.load();
	};

	load = async (): Promise<void> => {
		const key = this.#key();
		if (key !== this.#lastKey) {
			this.#order.drop();
			[this.#lastKey, this.data, this.problem] = [key, null, null];
		}
		const isNext = this.#order.begin();
		this.#open += 1;
		this.isLoading = true;
		try {
			const data = await this.#read();
			if (isNext()) [this.data, this.problem] = [data, null];
		} catch (error) {
			if (isNext()) this.problem = asProblem(error);
		}
		this.#open -= 1;
		this.isLoading = this.#open > 0;
	};

	/** Show what a change of it has answered. Readings that began before it may not know of the change. */
	replace = (data: Data): void => {
		this.#order.drop();
		[this.data, this.problem] = [data, null];
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
	/** The newest reading: what an older one brings is dropped. It never fails. */
	#reading: Promise<void> | null = null;
	/** The newest reading reads what is shown again, and no further page. */
	#isRefreshing = false;
	/** Items that the newest reading was to come to. */
	#count = 0;

	constructor(read: (after: string | undefined) => Promise<Page<Item>>, key?: (item: Item) => unknown) {
		this.#read = read;
		this.#key = key;
	}

	/** Read the first page, unless something has been read or is on its way. */
	begin = async (): Promise<void> => {
		if (!this.isLoaded && !this.#reading) await this.reload();
	};

	/** Read the next page. Nothing is read while another page is on its way, nor after the last one. */
	more = async (): Promise<void> => {
		while (this.#isRefreshing) await this.#reading;
		if (!this.#reading && (this.next || !this.isLoaded)) await this.#begin(this.next, this.items.length + 1);
	};

	/** Read again, with the page that failed to come. */
	retry = (): Promise<void> => this.readTo(this.#count);

	/** Read the first page again. The former items stay until it has come. */
	reload = (): Promise<void> => this.#begin(null, 0);

	/** Read again what has been read, after it may have changed, and after a page that is on its way. */
	refresh = async (): Promise<void> => {
		while (this.#reading) await this.#reading;
		await this.readTo(this.items.length);
	};

	/**
	 * Read pages until as many items have come as the reader had seen: he goes on where he left. All of them are shown at
	 * once: a list that was shorter meanwhile would move under the reader.
	 */
	readTo = (count: number): Promise<void> => {
		const reading = this.#begin(null, count);
		this.#isRefreshing = true;
		return reading;
	};

	#begin(after: string | null, count: number): Promise<void> {
		[this.#isRefreshing, this.#count] = [false, count];
		const reading: Promise<void> = this.#readPages(after, count, () => reading === this.#reading);
		this.#reading = reading;
		return reading;
	}

	async #readPages(after: string | null, count: number, isNewest: () => boolean): Promise<void> {
		let items = after ? this.items : [];
		let next = after;
		try {
			do {
				const page = await this.#read(next ?? undefined);
				if (!isNewest()) return;
				items = [...items, ...this.#leaveOut(items, page.items)];
				next = page.next_cursor ?? null;
				this.total = page.total ?? null;
			} while (next && items.length < count);
			[this.items, this.next, this.isLoaded, this.problem] = [items, next, true, null];
		} catch (error) {
			if (isNewest()) this.problem = asProblem(error);
		}
		if (isNewest()) [this.#reading, this.#isRefreshing] = [null, false];
	}

	/** The items of a page without those of the pages before it. */
	#leaveOut(former: readonly Item[], items: Item[]): Item[] {
		const key = this.#key;
		if (!key) return items;
		const keys = new Set(former.map(key));
		return items.filter((item) => !keys.has(key(item)));
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
