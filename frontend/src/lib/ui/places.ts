import type { IconName } from '#lib/ui/Icon.svelte';

export interface Place {
	href: string;
	title: string;
	icon: IconName;
	about: string;
	/** The letter that leads here after `g`. */
	key: string;
}

/** Places of the first row, also on a phone. */
export const MAIN_PLACES: readonly Place[] = [
	{ href: '/', title: 'Home', icon: 'home', about: 'Start with a table and a sentence.', key: 'h' },
	{ href: '/chat', title: 'Chat', icon: 'chat', about: 'Conversations about your tables.', key: 'c' },
	{ href: '/sessions', title: 'Sessions', icon: 'sessions', about: 'What the crew works on, and its results.', key: 's' },
	{ href: '/data', title: 'Data', icon: 'data', about: 'Tables, and how their files were read.', key: 'd' }
];

/** Places that are reached less often; on a phone they are behind "More". */
export const MORE_PLACES: readonly Place[] = [
	{ href: '/inbox', title: 'Inbox', icon: 'inbox', about: 'What waits for you, and what has ended.', key: 'i' },
	{ href: '/search', title: 'Search', icon: 'search', about: 'Sessions, chats, tables and models by their words.', key: 'f' },
	{ href: '/branches', title: 'Branches', icon: 'branches', about: 'Sessions with the branches that were made of them.', key: 'b' },
	{ href: '/models', title: 'Models', icon: 'models', about: 'Everything that was trained, with its score.', key: 'm' },
	{ href: '/runs', title: 'Runs', icon: 'runs', about: 'SQL, Python and query plans over your tables.', key: 'r' },
	{ href: '/workflows', title: 'Workflows', icon: 'workflows', about: 'Saved pipelines, their versions and runs.', key: 'w' }
];

export const PLACES: readonly Place[] = [...MAIN_PLACES, ...MORE_PLACES];
