import type { SessionEvent } from '#lib/session/events.ts';

type Token = Extract<SessionEvent, { kind: 'token' }>;

/** The words of the answer that a chat model writes now, each once, however often parts of them come. */
export class StreamedAnswer {
	text = '';
	/** In code points, as the service counts: an emoji is one of them, and two units of a text of the browser. */
	#length = 0;
	#key = '';

	/** Returns whether the words have changed. Those after a gap wait until all of the answer comes again. */
	add(token: Token): boolean {
		const key = [token.step, token.attempt, token.agent, token.answer].join(' ');
		if (key !== this.#key) this.clear(key);
		if (token.start > this.#length) return false;
		const kept = token.start === this.#length ? this.text : [...this.text].slice(0, token.start).join('');
		this.text = kept + token.text;
		this.#length = token.start + [...token.text].length;
		return true;
	}

	/** The whole answer has come, or is over. */
	clear(key = ''): void {
		[this.text, this.#length, this.#key] = ['', 0, key];
	}
}
