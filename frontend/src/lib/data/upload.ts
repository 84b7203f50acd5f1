import { PAGE_HEADERS, Problem, problemOf, type Schema } from '#lib/api/client.ts';

/** Upload a file; `onProgress` gets a share from 0 to 1. By XMLHttpRequest: fetch tells no progress. Throws Problem. */
export function upload(file: File, onProgress: (share: number) => void): Promise<Schema<'DatasetView'>> {
	return new Promise((resolve, reject) => {
		const request = new XMLHttpRequest();
		request.open('POST', `/api/v1/datasets?filename=${encodeURIComponent(file.name)}`);
		for (const [name, value] of Object.entries(PAGE_HEADERS)) request.setRequestHeader(name, value);
		request.setRequestHeader('Content-Type', 'application/octet-stream');
		request.setRequestHeader('Idempotency-Key', crypto.randomUUID());
		request.responseType = 'json';
		request.upload.onprogress = (event) => onProgress(event.total ? event.loaded / event.total : 0);
		request.onerror = () => reject(new Problem(0, {}));
		request.onload = () => {
			if (request.status === 201) resolve(request.response as Schema<'DatasetView'>);
			else reject(problemOf(new Response(null, { status: request.status }), request.response));
		};
		request.send(file);
	});
}
