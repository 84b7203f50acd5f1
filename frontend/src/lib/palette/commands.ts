import { goto } from '$app/navigation';
import type { Schema } from '#lib/api/client.ts';
import { account } from '#lib/api/account.svelte.ts';
import { ago } from '#lib/format.ts';
import { addressOf, HIT_PLACES } from '#lib/search/hit_places.ts';
import type { IconName } from '#lib/ui/Icon.svelte';
import { PLACES } from '#lib/ui/places.ts';
import { theme } from '#lib/ui/theme.svelte.ts';

export interface Command {
	id: string;
	title: string;
	detail: string;
	icon: IconName;
	run: () => void;
}

/** What can be done from everywhere: places first, then actions. */
export function standingCommands(): Command[] {
	const places: Command[] = PLACES.map(({ href, title, icon, about }) => ({
		id: href,
		title,
		detail: about,
		icon,
		run: () => void goto(href)
	}));
	const actions: Command[] = [
		{ id: 'account', title: 'Account', detail: 'Keys, usage and quotas.', icon: 'account', run: () => void goto('/account') },
		{ id: 'theme', title: theme.isDark ? 'Light colours' : 'Dark colours', detail: '', icon: 'more', run: () => theme.flip() },
		{ id: 'out', title: 'Sign out', detail: '', icon: 'account', run: () => void account.signOut() }
	];
	if (account.user?.role === 'admin') {
		actions.unshift({ id: 'admin', title: 'Admin', detail: 'Users, workers, queues and deletions.', icon: 'admin', run: () => void goto('/admin') });
	}
	return [...places, ...actions];
}

/** Those whose title or explanation has every word; those that begin with the words first. */
export function matchingCommands(commands: readonly Command[], words: string): Command[] {
	const searched = words.toLowerCase().split(/\s+/).filter(Boolean);
	const begins = (command: Command): boolean => command.title.toLowerCase().startsWith(searched[0] ?? '');
	const matches = commands.filter((command) => {
		const text = `${command.title} ${command.detail}`.toLowerCase();
		return searched.every((word) => text.includes(word));
	});
	return [...matches.filter(begins), ...matches.filter((command) => !begins(command))];
}

export const commandOf = (hit: Schema<'SearchHit'>): Command => ({
	id: `${hit.kind}-${hit.id}`,
	title: hit.text,
	detail: `${hit.kind}, ${ago(hit.created_at)}`,
	icon: HIT_PLACES[hit.kind].icon,
	run: () => void goto(addressOf(hit))
});
