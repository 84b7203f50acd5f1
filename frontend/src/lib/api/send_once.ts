/** A random UUID. Browsers have `crypto.randomUUID` on HTTPS only, and a service in a LAN may have plain HTTP. */
export function newId(): string {
	const bytes = crypto.getRandomValues(new Uint8Array(16));
	// Version 4 of RFC 9562, of its variant: these bits are not random.
	const fixed = bytes.map((byte, place) => (place === 6 ? (byte & 0x0f) | 0x40 : place === 8 ? (byte & 0x3f) | 0x80 : byte));
	const digits = Array.from(fixed, (byte) => byte.toString(16).padStart(2, '0')).join('');
	return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** By operation, the last content that was sent and has not been answered, with its key. */
const unanswered = new Map<string, { text: string; key: string }>();

/**
 * Send a request that creates something, with an idempotency key. Whoever sends the same content again, because the answer
 * was lost or by a second press, gets what the first request created: the key is another one after a success, and for other
 * content.
 */
export async function sendOnce<Answer>(operation: string, content: unknown, send: (key: string) => Promise<Answer>): Promise<Answer> {
	const text = JSON.stringify(content);
	const former = unanswered.get(operation);
	const request = former?.text === text ? former : { text, key: newId() };
	unanswered.set(operation, request);
	const answer = await send(request.key);
	if (unanswered.get(operation) === request) unanswered.delete(operation);
	return answer;
}
