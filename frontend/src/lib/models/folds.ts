import type { Schema } from '#lib/api/client.ts';

/** On how many folds a model's score was measured, where these are not all: a leaderboard measures the best on more. */
export const foldsOf = ({ folds, fold_count }: Schema<'ModelView'>): string =>
	folds && fold_count && folds < fold_count ? ` on ${folds} of ${fold_count} folds` : '';
