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

const TABLE = /\/api\/v1\/datasets\/([0-9a-f-]{36})(?=[/?]|$)/;
/**
 * Tables of which the service said that there are none, with its answer: ids never come back, and conversations go on to
 * name them. Signing out loads the page anew, and another user begins with none.
 */
const gone = new Map<string, string>();

async function rememberGone(request: Request, answer: Response): Promise<void> {
	const id = TABLE.exec(request.url)?.[1];
	if (!id || answer.status !== 404) return;
	const text = await answer.clone().text();
	// Not every 404 below a table is about the table.
	if (text.includes('"dataset_not_found"')) gone.set(id, text);
}

function answerGone({ url }: Request): Response | null {
	const text = gone.get(TABLE.exec(url)?.[1] ?? '');
	return text === undefined ? null : new Response(text, { status: 404, headers: { 'Content-Type': 'application/problem+json' } });
}

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
	const known = answerGone(request);
	if (known) return known;
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
			const answer = await fetch(request.clone(), { signal: abort.signal });
			await rememberGone(request, answer);
			return answer;
		} catch (error) {
			if (!abort.signal.aborted) throw error;
		} finally {
			reads.delete(abort);
		}
	}
}
