/**
 * The order of requests that read the same thing: what comes after the answer of a later request is older than what is
 * shown. Answers that come in order are all shown, for where requests come faster than answers the newest is never there.
 */
export class AnswerOrder {
	#begun = 0;
	#shown = 0;

	/** Begin a request. The returned function is called when its answer has come, and tells whether it may be shown. */
	begin(): () => boolean {
		this.#begun += 1;
		const number = this.#begun;
		return () => {
			if (number <= this.#shown) return false;
			this.#shown = number;
			return true;
		};
	}

	/** Drop what is on its way: something else is shown by now, or nothing any more. */
	drop(): void {
		this.#shown = this.#begun;
	}
}
