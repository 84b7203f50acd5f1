/** Something that is deleted now: whoever reads it meanwhile waits. */
interface Deletion {
	/** Whether a request, by its address and its content, reads something of it. */
	isOf: (request: string) => boolean;
	/** Whether it is gone; a refused deletion leaves it as it was. */
	isGone: Promise<boolean>;
}

const deletions = new Set<Deletion>();
/** Reads that have not been answered, each with what it reads. */
const reads = new Map<AbortController, string>();

const isRead = ({ method, url }: Request): boolean => method === 'GET' || new URL(url).pathname.startsWith('/api/v1/tables/');

/** Everything of these ids. */
export const ofIds = (ids: readonly string[]) => (request: string): boolean => ids.some((id) => request.includes(id));

/** Everything of the user. */
export const ofAll = (): boolean => true;

/**
 * Delete something, and go from its screen. Timers, streams and tables on their way would read it again, and be told that
 * there is no such thing: until `remove` has ended nothing is read of it. Where that is refused, what waits is read.
 */
export async function whileDeleting<Result>(isOf: (request: string) => boolean, remove: () => Promise<Result>): Promise<Result> {
	let end: (isGone: boolean) => void = () => undefined;
	const deletion: Deletion = { isOf, isGone: new Promise((resolve) => (end = resolve)) };
	deletions.add(deletion);
	for (const [abort, request] of reads) if (isOf(request)) abort.abort();
	try {
		const result = await remove();
		end(true);
		return result;
	} catch (error) {
		end(false);
		throw error;
	} finally {
		deletions.delete(deletion);
	}
}

/** Send a request as `fetch` does; what reads something that is deleted meanwhile is never answered. */
export async function fetchUnlessDeleted(request: Request): Promise<Response> {
	if (!isRead(request)) return fetch(request);
	const text = request.method === 'GET' ? request.url : `${request.url} ${await request.clone().text()}`;
	for (;;) {
		const deletion = [...deletions].find(({ isOf }) => isOf(text));
		if (deletion) {
			// Nobody looks at its screen any more: neither an answer nor a problem has a place there.
			if (await deletion.isGone) return new Promise(() => undefined);
			continue;
		}
		const abort = new AbortController();
		reads.set(abort, text);
		try {
			return await fetch(request.clone(), { signal: abort.signal });
		} catch (error) {
			if (!abort.signal.aborted) throw error;
		} finally {
			reads.delete(abort);
		}
	}
}
