import type { Schema } from '#lib/api/client.ts';

export type Summary = Schema<'SessionSummary'>;

/** A session with the branches that were made of it, oldest first. */
export interface Branch {
	session: Summary;
	/** A for the root, then in the order in which they were made. */
	letter: string;
	depth: number;
}

export interface Family {
	root: Summary;
	branches: Branch[];
}

const letterOf = (place: number): string =>
	place < 26 ? String.fromCharCode(65 + place) : `${letterOf(Math.floor(place / 26) - 1)}${letterOf(place % 26)}`;

/** Families of sessions: each branch below the session it was made of. A source that is gone makes a root. */
export function familiesOf(sessions: Summary[]): Family[] {
	const known = new Map(sessions.map((session) => [session.id, session]));
	const children = Map.groupBy(
		sessions.filter((session) => known.has(session.forked_from ?? '')).toReversed(),
		(session) => session.forked_from ?? ''
	);
	const roots = sessions.filter((session) => !known.has(session.forked_from ?? ''));
	return roots.map((root) => {
		const branches: Branch[] = [];
		const add = (session: Summary, depth: number): void => {
			branches.push({ session, letter: letterOf(branches.length), depth });
			for (const child of children.get(session.id) ?? []) add(child, depth + 1);
		};
		add(root, 0);
		return { root, branches };
	});
}
