import { asProblem, type Problem, type Schema } from '#lib/api/client.ts';
import { newId } from '#lib/api/send_once.ts';
import { bytes } from '#lib/format.ts';
import { upload } from '#lib/data/upload.ts';

/** A file on its way, wherever in the page its user is meanwhile. */
export class Upload {
	readonly id = newId();
	readonly file: File;
	/** From 0 to 1; at 1 the service reads the table. */
	share = $state(0);
	dataset = $state.raw<Schema<'DatasetView'> | null>(null);
	problem = $state.raw<Problem | null>(null);
	isCancelled = $state(false);
	/** The screen that it began on is open, and shows it in its place. */
	isShown = $state(false);
	#hasBegun = $state(false);
	/** The table; null where it was cancelled or refused. */
	readonly result: Promise<Schema<'DatasetView'> | null>;
	readonly #abort = new AbortController();

	isRunning = $derived(!this.dataset && !this.problem && !this.isCancelled);

	/** `before`: uploads that go first. */
	constructor(file: File, before: Promise<unknown>) {
		this.file = file;
		this.result = this.#send(before);
	}

	cancel = (): void => {
		this.isCancelled = true;
		this.#abort.abort();
	};

	get progress(): string {
		if (!this.#hasBegun) return 'Waiting for the file before it';
		if (this.share >= 1) return 'Reading the table';
		return `Uploading, ${Math.round(this.share * 100)} %, ${bytes(Math.ceil(this.file.size * (1 - this.share)))} left`;
	}

	async #send(before: Promise<unknown>): Promise<Schema<'DatasetView'> | null> {
		await before;
		if (this.isCancelled) return null;
		this.#hasBegun = true;
		try {
			this.dataset = await upload(this.file, (share) => (this.share = share), this.#abort.signal);
		} catch (error) {
			if (!this.isCancelled) this.problem = asProblem(error);
		}
		return this.dataset;
	}
}

/** All uploads of this tab: they go on while another screen is shown. */
class Uploads {
	all = $state.raw<Upload[]>([]);
	isRunning = $derived(this.all.some((each) => each.isRunning));

	#last: Promise<unknown> = Promise.resolve();

	/** Begin with files, one after the other: the first table is there soonest, and all of them as soon. */
	add(files: Iterable<File>): Upload[] {
		const added = [...files].map((file) => {
			const upload = new Upload(file, this.#last);
			this.#last = upload.result;
			return upload;
		});
		this.all = [...this.all, ...added];
		return added;
	}

	remove(upload: Upload): void {
		this.all = this.all.filter((each) => each !== upload);
	}
}

export const uploads = new Uploads();
