const KEY = 'inbox-visit';
/** A reload soon after a visit shows the same list again, in milliseconds. */
const SAME_VISIT_MS = 10 * 60_000;

interface Visit {
	at: number;
	before: number;
}

/** All that has ended is seen now: the next list begins here. Returns the time, in ms since 1970. */
export function markVisited(now: number = Date.now()): number {
	localStorage.setItem(KEY, JSON.stringify({ at: now, before: now } satisfies Visit));
	return now;
}

/** The time of the visit before this one, in ms since 1970; 0 at the first. */
export function lastVisit(now: number = Date.now()): number {
	const former = JSON.parse(localStorage.getItem(KEY) ?? '{"at":0,"before":0}') as Visit;
	const before = now - former.at < SAME_VISIT_MS ? former.before : former.at;
	localStorage.setItem(KEY, JSON.stringify({ at: now, before } satisfies Visit));
	return before;
}
