/** A service for the page's modules in Node. Import it before them: their client takes the browser's fetch when it is made. */
const NodeRequest = globalThis.Request;

globalThis.Request = class extends NodeRequest {
	constructor(address, options) {
		super(new URL(address, 'http://localhost'), options);
	}
};

/** Requests that nobody has answered yet, the oldest first. */
export const requests = [];

globalThis.fetch = (request, { signal } = {}) =>
	new Promise((resolve, reject) => {
		const { method, headers } = request;
		const path = new URL(request.url).pathname.replace('/api/v1', '');
		const answer = async (body, status = 200) => {
			requests.splice(requests.indexOf(open), 1);
			resolve(new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } }));
			await settled();
		};
		/** The service did its work, and the answer never came. */
		const lose = async () => {
			requests.splice(requests.indexOf(open), 1);
			reject(new TypeError('Failed to fetch'));
			await settled();
		};
		const open = { method, path, key: headers.get('Idempotency-Key'), text: () => request.text(), answer, lose };
		requests.push(open);
		signal?.addEventListener('abort', () => {
			requests.splice(requests.indexOf(open), 1);
			reject(signal.reason);
		});
	});

/** Let everything happen that waits for no request and no clock. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));

/** The oldest open request, once it has been sent. */
export async function next(method, path) {
	await settled();
	const request = requests[0];
	if (request?.method !== method || request.path !== path) {
		throw new Error(`${method} ${path} is awaited, and open are: ${requests.map((each) => `${each.method} ${each.path}`)}`);
	}
	return request;
}
