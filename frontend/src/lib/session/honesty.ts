import type { SessionResult } from '#lib/session/result.ts';
import { describeOpenings, isOpenedAgain } from '#lib/session/holdout.ts';
import { lastItem, type TimelineStep } from '#lib/session/timeline.svelte.ts';

/** One fact about how far the numbers of a session can be trusted, with the tool whose call shows it. */
export interface HonestyLight {
	sign: string;
	state: 'good' | 'wait' | 'calm';
	text: string;
	tool: string;
}

export function honestyOf(steps: TimelineStep[], result: SessionResult | null): HonestyLight[] {
	const lights: HonestyLight[] = [];
	const holdout = result?.holdout;
	if (holdout) {
		const isAgain = isOpenedAgain(holdout);
		const text = `Hold-out ${describeOpenings(holdout) || 'opened at the end'}`;
		lights.push({ sign: isAgain ? '▲' : '◉', state: isAgain ? 'wait' : 'good', text, tool: 'final_evaluation' });
	} else if (lastItem(steps, 'final_evaluation')) {
		// How often, also in forks, stands in the result.
		lights.push({ sign: '◉', state: 'calm', text: 'Hold-out opened', tool: 'final_evaluation' });
	} else if (lastItem(steps, 'lock_holdout')) {
		lights.push({ sign: '◉', state: 'good', text: 'Hold-out locked', tool: 'lock_holdout' });
	}
	for (const column of result?.leftOut ?? []) {
		lights.push({ sign: '▲', state: 'wait', text: `${column.column} left out`, tool: 'perform_eda' });
	}
	const tied = tiedCount(result);
	if (tied) {
		const text = `${tied} ${tied === 1 ? 'candidate' : 'candidates'} cannot be told from the best`;
		lights.push({ sign: '◇', state: 'calm', text, tool: 'compare_models' });
	}
	return lights;
}

/** Candidates that the folds do not distinguish from the chosen one. */
function tiedCount(result: SessionResult | null): number {
	return (result?.leaderboard ?? []).filter((row) => row.collapsed && !row.chosen && !row.baseline).length;
}
