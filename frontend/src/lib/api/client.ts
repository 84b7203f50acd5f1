import createClient from 'openapi-fetch';
import { fetchUnlessDeleted } from '#lib/api/deletion.ts';
import type { components, paths } from '#lib/api/schema.d.ts';

/** Sent with every change: pages of other sites cannot send it, so the API believes the cookie. */
export const PAGE_HEADERS = { 'X-Labcrew': '1' } as const;

export const api = createClient<paths>({ baseUrl: '/', headers: PAGE_HEADERS, fetch: fetchUnlessDeleted });

type Schemas = components['schemas'];
export type Schema<Name extends keyof Schemas> = Schemas[Name];
export type ProblemBody = Partial<Schema<'ProblemView'>>;

/** A refusal of the API; with `status` 0 a lost connection, or a fault of what the user entered or of the page. */
export class Problem extends Error {
	readonly status: number;
	readonly code: string;
	readonly requestId: string | null;
	readonly retryAfterS: number | null;
	/** Answers to choose from, where the service asks which one is meant. */
	readonly options: readonly string[];

	constructor(status: number, body: ProblemBody, retryAfterS: number | null = null) {
		super(body.detail ?? 'Labcrew does not answer.');
		this.status = status;
		this.code = body.code ?? 'unreachable';
		this.requestId = body.request_id ?? null;
		this.retryAfterS = retryAfterS;
		const options = (body as { options?: unknown }).options;
		this.options = Array.isArray(options) ? options.map(String) : [];
	}

	/** The same problem, with the name of what it is a problem of before its sentence. */
	about(name: string): Problem {
		if (this.isLost) return this;
		const body = { code: this.code, detail: `${name}: ${this.message}`, request_id: this.requestId, options: this.options };
		return new Problem(this.status, body as ProblemBody, this.retryAfterS);
	}

	/** Labcrew did not answer. */
	get isLost(): boolean {
		return this.status === 0 && this.code === 'unreachable';
	}

	/** The same request may succeed later. */
	get isPassing(): boolean {
		return this.isLost || this.status === 429 || this.status === 503;
	}
}

interface Answer<Data> {
	data?: Data;
	error?: unknown;
	response: Response;
}

/** Unwrap an answer; throws Problem. */
export async function read<Data>(request: Promise<Answer<Data>>): Promise<Data> {
	let answer: Answer<Data>;
	try {
		answer = await request;
	} catch {
		throw new Problem(0, {});
	}
	if (!answer.response.ok) throw problemOf(answer.response, answer.error);
	return answer.data as Data;
}

export function problemOf(response: Response, body: unknown): Problem {
	const retry = Number(response.headers.get('Retry-After'));
	const fields: ProblemBody = typeof body === 'object' && body !== null ? body : {};
	return new Problem(response.status, fields, Number.isFinite(retry) && retry > 0 ? retry : null);
}

export function asProblem(error: unknown): Problem {
	if (error instanceof Problem) return error;
	return new Problem(0, { code: 'not_sent', detail: error instanceof Error ? error.message : String(error) });
}
