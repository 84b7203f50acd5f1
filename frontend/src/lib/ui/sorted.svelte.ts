import type { PagedList } from '#lib/api/resource.svelte.ts';

/** Rows that are read so that they can be sorted; of a longer list the newest. */
const MAX_SORTED = 1000;

/** The order of the rows of a table: that of its list until one of its heads is pressed. */
export class Sorted<Item> {
	column = $state<string | null>(null);
	isDescending = $state(false);
	readonly #list: PagedList<Item>;
	readonly #values: Readonly<Record<string, (item: Item) => string | number>>;

	/** `values`: by column, what its rows are sorted by. */
	constructor(list: PagedList<Item>, values: Readonly<Record<string, (item: Item) => string | number>>) {
		[this.#list, this.#values] = [list, values];
	}

	/** Sort by a column; pressed again it turns round. Pages that have not been read come first. */
	press = async (column: string): Promise<void> => {
		[this.isDescending, this.column] = [column === this.column && !this.isDescending, column];
		if (this.#list.next) await this.#list.readTo(MAX_SORTED);
	};

	order(items: readonly Item[]): readonly Item[] {
		const value = this.column === null ? undefined : this.#values[this.column];
		if (!value) return items;
		const sign = this.isDescending ? -1 : 1;
		return [...items].sort((one, other) => sign * compare(value(one), value(other)));
	}
}

/** Texts as people sort them: `b2` before `B10`. */
const texts = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
const compare = (one: string | number, other: string | number): number =>
	typeof one === 'number' && typeof other === 'number' ? one - other : texts.compare(String(one), String(other));
