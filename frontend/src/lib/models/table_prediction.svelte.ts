import { api, read, type Schema } from '#lib/api/client.ts';
import { Followed } from '#lib/api/followed.svelte.ts';
import { sendOnce } from '#lib/api/send_once.ts';
import { upload } from '#lib/data/upload.ts';
import { cell } from '#lib/format.ts';
import { hasRunEnded, readRun } from '#lib/runs/run.svelte.ts';

const POLL_MS = 700;
/** No model is as sure as more digits say. */
const CHANCE_DIGITS = 3;

interface Rows {
	columns: { name: string; type?: string }[];
	rows: unknown[][];
}

/** The predictions of a model for each row of a table, from the upload of the table to the file that they are in. */
export class TablePrediction extends Followed<Schema<'RunView'>> {
	table = $state.raw<Schema<'DatasetView'> | null>(null);
	files = $state.raw<Schema<'ArtifactView'>[]>([]);
	/** The first rows, each with its prediction before its cells. */
	head = $state.raw<Rows | null>(null);
	readonly #model: Schema<'ModelDetail'>;

	constructor(model: Schema<'ModelDetail'>) {
		super({ read: readRun, hasEnded: hasRunEnded, pollMs: POLL_MS });
		this.#model = model;
	}

	async predict(file: File | undefined): Promise<void> {
		if (!file || this.isBusy) return;
		this.table = null;
		await this.#predict(() => upload(file, () => undefined));
	}

	/** Go on where an answer was lost: with the table that was uploaded, or with what was predicted. */
	retry = async (): Promise<void> => {
		const { table, view } = this;
		if (view) await this.#readResult(view, this.whileCurrent());
		else if (table) await this.#predict(async () => table);
	};

	async #predict(readTable: () => Promise<Schema<'DatasetView'>>): Promise<void> {
		[this.files, this.head] = [[], null];
		const isShown = await this.create(async () => {
			this.table = await readTable();
			const path = { model_id: this.#model.id };
			const body = { dataset_id: this.table.id, format: 'csv', keep_columns: true } as Schema<'TablePrediction'>;
			const run = await sendOnce('predictions', { path, body }, (key) => {
				const params = { path, header: { 'Idempotency-Key': key } };
				return read(api.POST('/api/v1/models/{model_id}/predictions', { params, body }));
			});
			return run.id;
		});
		if (isShown && this.view) await this.#readResult(this.view, this.whileCurrent());
	}

	async #readResult(run: Schema<'RunView'>, isCurrent: () => boolean): Promise<void> {
		const params = { path: { session_id: run.id } };
		const artifacts = this.change.run(async () => {
			const { items } = await read(api.GET('/api/v1/lab/agent/sessions/{session_id}/artifacts', { params }));
			if (isCurrent()) this.files = items;
		});
		// Without the first rows there is still the file.
		const head = await this.#readHead(run).catch(() => null);
		if (isCurrent()) this.head = head;
		await artifacts;
	}

	async #readHead({ outcome }: Schema<'RunView'>): Promise<Rows | null> {
		const predictions = (outcome?.predictions ?? []) as Schema<'PredictionView'>['predictions'];
		if (!predictions.length || !this.table) return null;
		const params = { path: { dataset_id: this.table.id }, query: { limit: predictions.length } };
		const preview = await read(api.GET('/api/v1/datasets/{dataset_id}/preview', { params }));
		const { positive_class: positive, target } = this.#model.problem;
		const chances = predictions.map((each) => {
			const chance = (each.probabilities as Record<string, number> | undefined)?.[String(positive)];
			return chance === undefined ? undefined : Number(chance.toFixed(CHANCE_DIGITS));
		});
		const hasChances = chances.some((chance) => chance !== undefined);
		const added = [{ name: `predicted ${cell(target)}` }, ...(hasChances ? [{ name: `chance of ${cell(positive)}`, type: 'number' }] : [])];
		return {
			columns: [...added, ...preview.columns],
			rows: preview.rows.map((row, place) => [predictions[place]?.prediction, ...(hasChances ? [chances[place]] : []), ...row])
		};
	}
}
