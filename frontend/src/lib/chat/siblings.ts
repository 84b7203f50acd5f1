import type { Schema } from '#lib/api/client.ts';

type Turn = Pick<Schema<'TurnView'>, 'parent_id' | 'worldline_id'>;

/** Other wordings of a message: the branches that part before it, in the order in which they began. */
export interface Siblings {
	/** The place of the turn's own branch among them. */
	place: number;
	branches: Schema<'WorldlineView'>[];
}

/** The branches in which another message stands in the place of this one; null where there is none. `before`: the turn before it. */
export function siblingsOf(turn: Turn, before: Turn | undefined, branches: readonly Schema<'WorldlineView'>[]): Siblings | null {
	// The branch of the turn before goes on behind it. At the beginning each branch from there has a turn of its own.
	const origin = turn.parent_id === null ? branches[0]?.id : before?.worldline_id;
	const parted = branches.filter(
		(branch) => branch.head !== null && branch.head !== turn.parent_id && (branch.id === origin || branch.from_turn === turn.parent_id)
	);
	const place = parted.findIndex((branch) => branch.id === turn.worldline_id);
	return place >= 0 && parted.length > 1 ? { place, branches: parted } : null;
}
