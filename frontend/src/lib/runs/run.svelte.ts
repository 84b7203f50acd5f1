import { api, read, type Schema } from '#lib/api/client.ts';
import { Followed } from '#lib/api/followed.svelte.ts';
import { sendOnce } from '#lib/api/send_once.ts';

export type Language = Schema<'RunCreate'>['language'];

const POLL_MS = 400;
const ENDED: ReadonlySet<Schema<'RunStatus'>> = new Set(['succeeded', 'failed', 'timed_out', 'rejected', 'cancelled']);

export const hasRunEnded = (run: { status: Schema<'RunStatus'> }): boolean => ENDED.has(run.status);

export const readRun = (run_id: string): Promise<Schema<'RunView'>> => read(api.GET('/api/v1/runs/{run_id}', { params: { path: { run_id } } }));

/** One program or query of the editor, from its start to its end. */
export class Run extends Followed<Schema<'RunView'>> {
	constructor() {
		super({ read: readRun, hasEnded: hasRunEnded, pollMs: POLL_MS });
	}

	/** `text`: SQL, Python, or a query plan as JSON. */
	start(language: Language, text: string, dataset_ids: string[]): Promise<boolean> {
		return this.create(async () => {
			const program = language === 'plan' ? { plan: parsePlan(text) } : { code: text };
			const body = { language, dataset_ids, ...program } as Schema<'RunCreate'>;
			const created = await sendOnce('run', body, (key) => read(api.POST('/api/v1/runs', { params: { header: { 'Idempotency-Key': key } }, body })));
			return created.id;
		});
	}

	stop = (): Promise<void> =>
		this.change.run(async () => {
			if (this.view) await read(api.DELETE('/api/v1/runs/{run_id}', { params: { path: { run_id: this.view.id } } }));
		});
}

function parsePlan(text: string): Schema<'RunCreate'>['plan'] {
	try {
		return JSON.parse(text) as Schema<'RunCreate'>['plan'];
	} catch (error) {
		throw new Error(`The plan is not JSON: ${error instanceof Error ? error.message : error}`);
	}
}
