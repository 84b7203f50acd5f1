/** A name that can be mentioned in a message: of a table, or of a column of one that the conversation has. */
export interface Mentionable {
	name: string;
	about: string;
	/** The table that is added to the conversation with it. */
	table: string | null;
}

/** An `@` with the beginning of a name behind it, as far as it is written: the places of both ends in the text. */
export interface Mention {
	start: number;
	end: number;
	beginning: string;
}

const WRITTEN = /(?:^|\s)@([^\s@]*)$/u;
/** More are not looked through; another letter leaves fewer. */
const MAX_SHOWN = 8;

/** The mention that ends at the caret. An address of e-mail is none. */
export function mentionAt(text: string, caret: number): Mention | null {
	const beginning = WRITTEN.exec(text.slice(0, caret))?.[1];
	return beginning === undefined ? null : { start: caret - beginning.length - 1, end: caret, beginning };
}

/** Names that begin with what is written, then those that have it elsewhere. */
export function matchingNames(names: readonly Mentionable[], beginning: string): Mentionable[] {
	const written = beginning.toLowerCase();
	const placed = names.map((entry) => ({ entry, place: entry.name.toLowerCase().indexOf(written) }));
	const [first, later] = [placed.filter(({ place }) => place === 0), placed.filter(({ place }) => place > 0)];
	return [...first, ...later].slice(0, MAX_SHOWN).map(({ entry }) => entry);
}

/** The text with the name in the place of the mention, and where the caret stands behind it. */
export function withName(text: string, { start, end }: Mention, name: string): { text: string; caret: number } {
	const behind = text.slice(end).replace(/^ /, '');
	return { text: `${text.slice(0, start)}${name} ${behind}`, caret: start + name.length + 1 };
}
