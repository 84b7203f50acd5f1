import { Refresher } from '#lib/stream/refresher.ts';
import { stream } from '#lib/stream/stream.svelte.ts';

/** Read something after each change of the user's lists; returns the function that stops it, for an effect. */
export function followLists(read: () => Promise<unknown>): () => void {
	return follow(new Refresher(read, isVisible));
}

/** The same, and read it now. */
export function readAndFollowLists(read: () => Promise<unknown>): () => void {
	const refresher = new Refresher(read, isVisible);
	void refresher.refresh();
	return follow(refresher);
}

const isVisible = (): boolean => document.visibilityState === 'visible';

function follow(refresher: Refresher): () => void {
	document.addEventListener('visibilitychange', refresher.onVisibilityChange);
	const stop = stream.watchLists(refresher.onChange);
	return () => {
		stop();
		document.removeEventListener('visibilitychange', refresher.onVisibilityChange);
	};
}
