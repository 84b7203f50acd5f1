import { amount, count } from '#lib/format.ts';
import type { Holdout } from '#lib/session/result.ts';

/** Whether its score may be optimistic: somebody saw these rows before the last choice. */
export const isOpenedAgain = ({ openings, looks }: Holdout): boolean => (openings ?? 1) > 1 || (looks ?? 1) > 1;

/** The rows of a hold-out, and how often they were looked at, as the report says it. */
export function describeHoldout(holdout: Holdout, isForecast: boolean): string {
	const rows = isForecast ? amount(holdout.rows, 'forecast of rows', 'forecasts of rows') : amount(holdout.rows, 'row');
	const openings = describeOpenings(holdout);
	// Of results from before openings were counted: nothing is claimed.
	if (!openings) return `${rows} kept away until the end`;
	return isOpenedAgain(holdout) ? `${rows}, ${openings}` : `${rows} that nobody saw before, ${openings}`;
}

export function describeOpenings({ openings, looks }: Holdout): string {
	if (openings === null) return '';
	const times = openings === 1 ? 'opened once' : `opened ${count(openings)} times`;
	return looks !== null && looks > 1 ? `${times} here; look ${count(looks)} at the same rows by studies that are forks of one another` : times;
}
