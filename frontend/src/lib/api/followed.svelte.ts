import { AnswerOrder } from '#lib/api/answer_order.ts';
import { asProblem, type Problem } from '#lib/api/client.ts';
import { Change } from '#lib/api/resource.svelte.ts';

interface Following<View> {
	read: (id: string) => Promise<View>;
	hasEnded: (view: View) => boolean;
	pollMs: number;
	/** Called with each view after it is shown. */
	onShown?: (view: View) => unknown;
}

/**
 * Something that the service works on, read again until it has ended. One at a time: the following of a former one ends
 * when another is followed or the page is left. A problem that may pass is shown, and the following goes on.
 */
export class Followed<View> {
	view = $state.raw<View | null>(null);
	problem = $state<Problem | null>(null);
	/** It is being created, or has not ended. */
	isBusy = $state(false);
	/** What the user does to it, such as stopping it. */
	readonly change = new Change();
	readonly #following: Following<View>;
	readonly #order = new AnswerOrder();
	/** Counts what has been followed: a loop ends when it is not of the last one. */
	#turn = 0;
	#isLeft = false;

	constructor(following: Following<View>) {
		this.#following = following;
	}

	/**
	 * Create one, of which `send` returns the id, and follow it. Nothing is created while another is busy. Returns whether
	 * it has ended, and is shown.
	 */
	async create(send: () => Promise<string>): Promise<boolean> {
		if (this.isBusy || this.#isLeft) return false;
		const isCurrent = this.#begin();
		try {
			const id = await send();
			return isCurrent() && (await this.#followToEnd(id, isCurrent));
		} catch (error) {
			if (isCurrent()) [this.problem, this.isBusy] = [asProblem(error), false];
			return false;
		}
	}

	/** Follow one instead of what was followed before. Returns whether it has ended, and is shown. */
	async follow(id: string): Promise<boolean> {
		return !this.#isLeft && (await this.#followToEnd(id, this.#begin()));
	}

	/** The page was left: nothing is followed any more, nor is what is created only now. */
	leave = (): void => {
		this.#isLeft = true;
		this.#end();
	};

	/** Follow it no longer, and show nothing of it. */
	clear(): void {
		this.#end();
		[this.view, this.problem, this.change.problem] = [null, null, null];
	}

	#end(): void {
		this.#turn += 1;
		this.#order.drop();
		this.isBusy = false;
	}

	/** Show what a change of it answers, unless something newer is shown, or another. */
	protected async show(request: Promise<View>): Promise<boolean> {
		const [isCurrent, isNext] = [this.whileCurrent(), this.#order.begin()];
		const view = await request;
		if (!isCurrent() || !isNext()) return false;
		[this.view, this.problem] = [view, null];
		await this.#following.onShown?.(view);
		return true;
	}

	/** A function that tells whether what is followed now is followed still. */
	protected whileCurrent(): () => boolean {
		const turn = this.#turn;
		return () => turn === this.#turn;
	}

	#begin(): () => boolean {
		this.clear();
		this.isBusy = true;
		return this.whileCurrent();
	}

	async #followToEnd(id: string, isCurrent: () => boolean): Promise<boolean> {
		const { read, hasEnded, pollMs } = this.#following;
		while (isCurrent()) {
			let pauseMs = pollMs;
			try {
				const isShown = await this.show(read(id));
				if (isShown && this.view && hasEnded(this.view)) break;
			} catch (error) {
				const problem = asProblem(error);
				if (isCurrent()) this.problem = problem;
				if (!problem.isPassing) break;
				pauseMs = Math.max(pollMs, (problem.retryAfterS ?? 0) * 1000);
			}
			if (isCurrent()) await new Promise((resolve) => setTimeout(resolve, pauseMs));
		}
		if (!isCurrent()) return false;
		this.isBusy = false;
		return this.problem === null;
	}
}
