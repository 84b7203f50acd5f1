import { goto } from '$app/navigation';
import { navigating, page } from '$app/state';

/** The way from the screen that is shown now, for when an answer has come: whoever went elsewhere meanwhile stays there. */
export function wayOn(): (address: string) => Promise<void> {
	const here = page.url.pathname;
	return async (address) => {
		if (page.url.pathname === here && !navigating.to) await goto(address);
	};
}
