/** Reads something again after its changes: never twice at a time, and not while nobody sees the page. */
export class Refresher {
	readonly #read: () => Promise<unknown>;
	readonly #isVisible: () => boolean;
	#isDue = false;
	#isReading = false;

	constructor(read: () => Promise<unknown>, isVisible: () => boolean) {
		this.#read = read;
		this.#isVisible = isVisible;
	}

	/** Read now, or once more after the reading that is under way: that one may have missed the change. */
	refresh = async (): Promise<void> => {
		this.#isDue = true;
		if (this.#isReading) return;
		this.#isReading = true;
		try {
			while (this.#isDue) {
				this.#isDue = false;
				await this.#read();
			}
		} finally {
			this.#isReading = false;
		}
	};

	/** Something has changed: it is read, or noted until the page is seen. */
	onChange = (): void => {
		if (this.#isVisible()) void this.refresh();
		else this.#isDue = true;
	};

	/** The page is seen again, or no longer. */
	onVisibilityChange = (): void => {
		if (this.#isDue && this.#isVisible()) void this.refresh();
	};
}
