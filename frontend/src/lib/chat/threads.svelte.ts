import { api, read, type Schema } from '#lib/api/client.ts';
import { PagedList } from '#lib/api/resource.svelte.ts';

/** The user's threads, the last used first. Old rows stay while new ones come. */
export class ThreadList extends PagedList<Schema<'ThreadSummary'>> {
	constructor() {
		super((after) => read(api.GET('/api/v1/threads', { params: { query: { limit: 40, ...(after && { after }) } } })));
	}

	/** Read the threads again, as many as were shown. */
	load = this.refresh;
}

/** Shared by all screens of the chat: the list stays in place while threads are opened. */
export const threads = new ThreadList();
