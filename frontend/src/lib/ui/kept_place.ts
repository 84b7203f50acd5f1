import { snapshot } from '$app/navigation';
import type { PagedList } from '#lib/api/resource.svelte.ts';
import { tick } from 'svelte';

/** What a list is narrowed by, to be shown again as it was. */
interface Filter<Value> {
	get: () => Value;
	set: (value: Value) => void;
}

/**
 * Let who comes back to a list find the same place in it. What it shows is read again and never kept.
 * Called while a component is made, once for each `id`.
 */
export function keepPlace<Item, Value = null>(id: string, list: PagedList<Item>, filter?: Filter<Value>): void {
	snapshot({
		id,
		capture: () => ({ filter: filter?.get() ?? null, top: window.scrollY, count: list.items.length }),
		restore: async (former) => {
			if (filter && former.filter !== null) filter.set(former.filter);
			await list.readTo(former.count);
			await tick();
			window.scrollTo(0, former.top);
		}
	});
}
