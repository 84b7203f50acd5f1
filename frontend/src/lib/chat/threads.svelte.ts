import { api, asProblem, read, type Problem, type Schema } from '#lib/api/client.ts';

/** The user's threads, the last used first. Old rows stay while new ones come. */
export class ThreadList {
	items = $state<Schema<'ThreadSummary'>[]>([]);
	next = $state<string | null>(null);
	problem = $state<Problem | null>(null);
	isLoaded = $state(false);

	async load(): Promise<void> {
		await this.#read({ limit: 40 }, false);
	}

	async more(): Promise<void> {
		if (this.next) await this.#read({ limit: 40, after: this.next }, true);
	}

	async remove(id: string): Promise<void> {
		try {
			await read(api.DELETE('/api/v1/threads/{thread_id}', { params: { path: { thread_id: id } } }));
			this.items = this.items.filter((thread) => thread.id !== id);
		} catch (error) {
			this.problem = asProblem(error);
		}
	}

	async #read(query: { limit: number; after?: string }, isMore: boolean): Promise<void> {
		try {
			const page = await read(api.GET('/api/v1/threads', { params: { query } }));
			this.items = isMore ? [...this.items, ...page.items] : page.items;
			this.next = page.next_cursor ?? null;
			this.problem = null;
			this.isLoaded = true;
		} catch (error) {
			this.problem = asProblem(error);
		}
	}
}

/** Shared by all screens of the chat: the list stays in place while threads are opened. */
export const threads = new ThreadList();
