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

/** Something that the user changes. A refusal stays until the next try. */
export class Change {
	problem = $state<Problem | null>(null);

	run = async (work: () => Promise<unknown>): Promise<void> => {
		this.problem = null;
		try {
			await work();
		} catch (error) {
			this.problem = asProblem(error);
		}
	};
}

interface Page<Item> {
	items: Item[];
	next_cursor?: string | null;
}

/** A list that is read page by page, by the cursor of the page before. */
export class PagedList<Item> {
	items = $state.raw<Item[]>([]);
	next = $state<string | null>(null);
	isLoaded = $state(false);
	problem = $state<Problem | null>(null);
	readonly #read: (after: string | undefined) => Promise<Page<Item>>;

	constructor(read: (after: string | undefined) => Promise<Page<Item>>) {
		this.#read = read;
	}

	more = async (): Promise<void> => {
		try {
			// An effect that asks for the first page must not run again when the next one is known.
			const after = untrack(() => this.next) ?? undefined;
			const page = await this.#read(after);
			this.items = [...this.items, ...page.items];
			this.next = page.next_cursor ?? null;
			this.isLoaded = true;
			this.problem = null;
		} catch (error) {
			this.problem = asProblem(error);
		}
	};

	reload = async (): Promise<void> => {
		[this.items, this.next] = [[], null];
		await this.more();
	};
}
