import { api, asProblem, read, type Problem, type Schema } from '#lib/api/client.ts';

/** The signed-in user, shared by all screens and, by a channel, by all tabs. */
class Account {
	user = $state<Schema<'UserView'> | null>(null);
	problem = $state<Problem | null>(null);
	isKnown = $state(false);
	#tabs = new BroadcastChannel('account');

	constructor() {
		this.#tabs.onmessage = () => location.reload();
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
	}

	/** Nothing of the user stays on the page, in this tab or another. */
	async signOut(): Promise<void> {
		await read(api.DELETE('/api/v1/auth/session'));
		this.#tabs.postMessage('signed out');
		location.assign('/sign-in');
	}
}

export const account = new Account();
