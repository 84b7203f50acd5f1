import type { Schema } from '#lib/api/client.ts';
import type { IconName } from '#lib/ui/Icon.svelte';

/** Where the page shows what a search finds. */
export const HIT_PLACES: Readonly<Record<Schema<'HitKind'>, { icon: IconName; path: string }>> = {
	session: { icon: 'sessions', path: '/sessions' },
	thread: { icon: 'chat', path: '/chat' },
	dataset: { icon: 'data', path: '/data' },
	model: { icon: 'models', path: '/models' },
	workflow: { icon: 'workflows', path: '/workflows' }
};

export const addressOf = (hit: Schema<'SearchHit'>): string => `${HIT_PLACES[hit.kind].path}/${hit.id}`;
