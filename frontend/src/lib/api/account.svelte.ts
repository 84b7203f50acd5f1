import { api, asProblem, read, type Problem, type Schema } from '#lib/api/client.ts';
import { stream } from '#lib/stream/stream.svelte.ts';

/** What one tab tells the others. */
type TabMessage = { kind: 'signed_out' } | { kind: 'signed_in'; user: string };

/** The signed-in user, shared by all screens and, by a channel, by all tabs. */
export class Account {
	user = $state<Schema<'UserView'> | null>(null);
	problem = $state<Problem | null>(null);
	isKnown = $state(false);
	#tabs = new BroadcastChannel('account');

	constructor() {
		this.#tabs.onmessage = (message: MessageEvent<TabMessage>) => this.#take(message.data);
	}

	async load(): Promise<void> {
		try {
			this.user = await read(api.GET('/api/v1/auth/me'));
			this.problem = null;
		} catch (error) {
			const problem = asProblem(error);
			this.user = null;
			this.problem = problem.status === 401 ? null : problem;
		}
		this.isKnown = true;
	}

	async signIn(body: Schema<'SignIn'> | Schema<'CodeSignIn'>): Promise<void> {
		await read(api.POST('/api/v1/auth/session', { body }));
		await this.load();
		if (!this.user) return;
		stream.resume();
		this.#tabs.postMessage({ kind: 'signed_in', user: this.user.id } satisfies TabMessage);
	}

	/** A tab of the same user goes on where it was, with what is written in it; one of another user shows nothing any more. */
	#take(message: TabMessage): void {
		if (message.kind === 'signed_in' && !this.user) return;
		if (message.kind === 'signed_in' && this.user?.id === message.user) stream.resume();
		else location.reload();
	}

	/** Nothing of the user stays on the page, in this tab or another. */
	async signOut(): Promise<void> {
		await read(api.DELETE('/api/v1/auth/session'));
		this.#tabs.postMessage({ kind: 'signed_out' } satisfies TabMessage);
		location.assign('/sign-in');
	}
}

export const account = new Account();
