import { serviceConfig } from '#lib/api/config.ts';
import { bytes } from '#lib/format.ts';
import { api, asProblem, PAGE_HEADERS, Problem, problemOf, read, type Schema } from '#lib/api/client.ts';

/** Small enough that a lost connection costs seconds, large enough that requests cost nothing beside it. */
const PIECE_BYTES = 8 << 20;
/** Milliseconds between tries to go on, and how long nothing may arrive before the upload is given up. */
const [RETRY_MS, PATIENCE_MS] = [1000, 120_000];

type UploadView = Schema<'UploadView'>;

/**
 * Upload a file as `send` does; what the service refuses is said with the name of the file. Throws Problem, also where
 * `signal` ends it: what had arrived is deleted.
 */
export async function upload(file: File, onProgress: (share: number) => void, signal?: AbortSignal): Promise<Schema<'DatasetView'>> {
	try {
		const config = await serviceConfig();
		const limit = config?.limits.upload_bytes ?? Infinity;
		// Before anything is sent: minutes of an upload would end in the same refusal.
		if (file.size > limit) throw new Problem(413, { detail: `It has ${bytes(file.size)}; the service reads files of ${bytes(limit)} at most.` });
		return await send(file, onProgress, signal);
	} catch (error) {
		throw asProblem(error).about(file.name);
	}
}

/**
 * Upload a file; `onProgress` gets a share from 0 to 1. After a lost connection it goes on where it was. Throws Problem.
 */
async function send(file: File, onProgress: (share: number) => void, signal?: AbortSignal): Promise<Schema<'DatasetView'>> {
	const body = { filename: file.name, size_bytes: file.size };
	let state = await read(api.POST('/api/v1/uploads', { body }));
	const { id } = state;
	// Also while the table is read: what is given up is not stored.
	signal?.addEventListener('abort', () => void giveUp(id), { once: true });
	let arrivedAt = Date.now();
	while (state.offset < file.size) {
		const former = state.offset;
		try {
			state = await sendPiece(state, file, (bytes) => onProgress(bytes / file.size), signal);
		} catch (error) {
			signal?.throwIfAborted();
			state = await stateAfter(asProblem(error), state);
		}
		if (state.offset > former) arrivedAt = Date.now();
		else if (Date.now() - arrivedAt > PATIENCE_MS) throw new Problem(0, {});
		onProgress(state.offset / file.size);
	}
	const params = { path: { upload_id: state.id } };
	signal?.throwIfAborted();
	return untilAnswered(() => read(api.POST('/api/v1/uploads/{upload_id}/dataset', { params })));
}

/** Delete an unfinished upload, which would count towards the user's storage for a day. */
async function giveUp(upload_id: string): Promise<void> {
	try {
		await read(api.DELETE('/api/v1/uploads/{upload_id}', { params: { path: { upload_id } } }));
	} catch {
		// It is finished, or the service is away: then it goes by itself.
	}
}

/** What has arrived, once the service answers again; a refusal that no wait changes is thrown. */
async function stateAfter(problem: Problem, state: UploadView): Promise<UploadView> {
	if (!problem.isPassing && problem.code !== 'offset_differs' && problem.status !== 408) throw problem;
	await wait((problem.retryAfterS ?? 0) * 1000 || RETRY_MS);
	const params = { path: { upload_id: state.id } };
	return untilAnswered(() => read(api.GET('/api/v1/uploads/{upload_id}', { params })));
}

async function untilAnswered<Answer>(send: () => Promise<Answer>): Promise<Answer> {
	for (const end = Date.now() + PATIENCE_MS; ; await wait(RETRY_MS)) {
		try {
			return await send();
		} catch (error) {
			const problem = asProblem(error);
			if (!(problem.isLost || problem.status === 503) || Date.now() > end) throw problem;
		}
	}
}

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Send the next piece. By XMLHttpRequest: fetch tells no progress. */
function sendPiece(state: UploadView, file: File, onProgress: (bytes: number) => void, signal?: AbortSignal): Promise<UploadView> {
	return new Promise((resolve, reject) => {
		signal?.throwIfAborted();
		const request = new XMLHttpRequest();
		signal?.addEventListener('abort', () => request.abort(), { once: true });
		request.onabort = () => reject(new Problem(0, {}));
		request.open('PUT', `/api/v1/uploads/${state.id}?offset=${state.offset}`);
		for (const [name, value] of Object.entries(PAGE_HEADERS)) request.setRequestHeader(name, value);
		request.setRequestHeader('Content-Type', 'application/octet-stream');
		request.responseType = 'json';
		request.upload.onprogress = (event) => onProgress(state.offset + event.loaded);
		request.onerror = () => reject(new Problem(0, {}));
		request.onload = () => {
			if (request.status === 200) resolve(request.response as UploadView);
			else reject(problemOf(new Response(null, { status: request.status }), request.response));
		};
		request.send(file.slice(state.offset, state.offset + PIECE_BYTES));
	});
}
