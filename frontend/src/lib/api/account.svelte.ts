import { api, asProblem, read, type Problem, type Schema } from '#lib/api/client.ts';
import { ofAll, whileDeleting } from '#lib/api/deletion.ts';
import { Change } from '#lib/api/resource.svelte.ts';
import { stream } from '#lib/stream/stream.svelte.ts';

/** What one tab tells the others. */
type TabMessage = { kind: 'signed_out' } | { kind: 'signed_in'; user: string };

/** The signed-in user, shared by all screens and, by a channel, by all tabs. */
export class Account {
	user = $state<Schema<'UserView'> | null>(null);
	problem = $state<Problem | null>(null);
	isKnown = $state(false);
	/** The session of this browser is ended: until the page is gone it reads nothing more. */
	isLeaving = $state(false);
	readonly signingOut = new Change();
	#tabs = new BroadcastChannel('account');

	constructor() {
		this.#tabs.onmessage = (message: MessageEvent<TabMessage>) => this.#take(message.data);
		// A browser may keep the page that was left for "back", with what stood on it.
		addEventListener('pageshow', (event) => event.persisted && this.isLeaving && location.reload());
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
	signOut = (): Promise<void> => this.signingOut.run(() => this.leaveAfter(endSession));

	/** Do what ends the session of this browser, and leave, in its other tabs too. Throws Problem. */
	async leaveAfter(end: () => Promise<unknown>): Promise<void> {
		this.isLeaving = true;
		try {
			await whileDeleting(ofAll, async () => {
				await end();
				this.#tabs.postMessage({ kind: 'signed_out' } satisfies TabMessage);
				location.assign('/sign-in');
				// The page is still here for a moment, in which nothing of the user is read.
				await new Promise(() => undefined);
			});
		} catch (error) {
			this.isLeaving = false;
			throw error;
		}
	}
}

async function endSession(): Promise<void> {
	try {
		await read(api.DELETE('/api/v1/auth/session'));
	} catch (error) {
		// It has ended already, such as in another browser.
		if (asProblem(error).status !== 401) throw error;
	}
}

export const account = new Account();
