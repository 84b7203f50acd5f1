/** Browsers cut elements at 33.5 million pixels: 5 million rows are more than that. */
const MAX_HEIGHT = 10_000_000;
/** Milliseconds without a scroll event after which a scroll has ended. */
const SETTLED_MS = 150;

/**
 * The place in a list that may be higher than an element can be. Short scrolls move the rows pixel by pixel, long ones in
 * proportion; when a scroll has ended, the scrollbar is put where the rows are.
 */
export class ScrollPlace {
	/** Pixels of the list above the view. */
	top = $state(0);
	/** Pixels of the view. */
	view = $state(0);
	/** Pixels of the whole list. */
	height: number;
	#list: () => number;
	#element: HTMLElement | null = null;
	#scrolled = 0;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(list: () => number) {
		this.#list = list;
		this.height = $derived(Math.min(list(), MAX_HEIGHT));
	}

	attach = (element: HTMLElement): (() => void) => {
		this.#element = element;
		return () => clearTimeout(this.#timer);
	};

	get #rest(): number {
		return Math.max(0, this.#list() - this.view);
	}

	get #track(): number {
		return Math.max(0, this.height - this.view);
	}

	/** Follow the scrollbar, the wheel or a finger. */
	scrolled = (): void => {
		if (!this.#element) return;
		const place = this.#element.scrollTop;
		const step = place - this.#scrolled;
		this.#scrolled = place;
		if (step === 0) return;
		const isExact = this.#rest === this.#track;
		if (isExact || place <= 0 || place >= this.#track || Math.abs(step) > this.view) {
			this.top = this.#track ? (place / this.#track) * this.#rest : 0;
		} else {
			this.top = Math.min(this.#rest, Math.max(0, this.top + step));
		}
		clearTimeout(this.#timer);
		if (!isExact) this.#timer = setTimeout(() => this.go(this.top), SETTLED_MS);
	};

	/** Put a pixel of the list at the upper edge of the view. */
	go = (top: number): void => {
		this.top = Math.min(this.#rest, Math.max(0, top));
		if (!this.#element) return;
		this.#element.scrollTop = this.#rest ? (this.top / this.#rest) * this.#track : 0;
		this.#scrolled = this.#element.scrollTop;
	};
}
