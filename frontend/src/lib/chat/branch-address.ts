import type { Schema } from '#lib/api/client.ts';

/** The address of a branch; the first one has that of its conversation. */
export const branchAddress = (thread: Schema<'ThreadView'>, branch: string): string =>
	`/chat/${thread.id}${thread.worldlines[0]?.id === branch ? '' : `?branch=${branch}`}`;
