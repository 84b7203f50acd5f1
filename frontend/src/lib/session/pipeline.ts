import { words } from '#lib/format.ts';
import type { TimelineStep } from '#lib/session/timeline.svelte.ts';

export interface Stage {
	name: string;
	title: string;
	/** `cut`: its session ended in it. */
	state: 'done' | 'running' | 'waiting' | 'cut';
	times: number;
}

/** Nodes of `backend/app/pipeline`; a session of another graph shows its own steps. */
const MODEL_STAGES = [
	'planning', 'data_retrieval', 'split', 'data_analysis', 'feature_engineering', 'model_training',
	'model_evaluation', 'hyperparameter_tuning', 'final_evaluation', 'reporting'
];
/** Shorter than the names of the nodes, to stand side by side. */
const TITLES: Readonly<Record<string, string>> = {
	data_retrieval: 'Data',
	data_analysis: 'Analysis',
	feature_engineering: 'Features',
	model_training: 'Training',
	model_evaluation: 'Evaluation',
	hyperparameter_tuning: 'Tuning',
	final_evaluation: 'Final check',
	reporting: 'Report'
};
const ANSWER_STAGES = ['planning', 'data_retrieval', 'answering', 'reporting'];

/** Tools of the tuner: what comes after an evaluation is seen by what it calls. */
const TUNING_TOOLS: ReadonlySet<string> = new Set(['add_folds', 'tune_hyperparameters']);

/** Give a running step its stage: its name comes with its end, or in an event that a reload has missed. */
export function withStages(steps: TimelineStep[]): TimelineStep[] {
	return steps.map((step, place) => {
		if (step.node) return step;
		return { ...step, node: expectedStage(steps[place - 1]?.node, new Set(step.items.map((entry) => entry.title))) };
	});
}

function expectedStage(former: string | undefined, tools: ReadonlySet<string>): string {
	if (tools.has('final_evaluation')) return 'final_evaluation';
	if (former === undefined) return 'planning';
	if (former === 'model_evaluation') return tools.isDisjointFrom(TUNING_TOOLS) ? '' : 'hyperparameter_tuning';
	if (former === 'hyperparameter_tuning') return 'model_evaluation';
	const place = MODEL_STAGES.indexOf(former);
	return place < 0 ? '' : (MODEL_STAGES[place + 1] ?? '');
}

/** The stages in order, with what came of each; those to come are waiting until the session is over. */
export function stagesOf(steps: TimelineStep[], isOver: boolean): Stage[] {
	const seen = steps.map((step) => step.node).filter(Boolean);
	const planned = seen.includes('answering') ? ANSWER_STAGES : MODEL_STAGES;
	const names = [...planned, ...seen.filter((node) => !planned.includes(node))];
	const stages = [...new Set(names)].map((name): Stage => {
		const own = steps.filter((step) => step.node === name);
		const isOpen = own.some((step) => step.state === 'running');
		const state = isOpen ? (isOver ? 'cut' : 'running') : own.length ? 'done' : 'waiting';
		return { name, title: TITLES[name] ?? words(name), state, times: own.length };
	});
	return isOver ? stages.filter((stage) => stage.state !== 'waiting') : stages;
}

/** Positions of the stages that a session goes through again; null where its graph has no loop. */
export function loopOf(stages: Stage[]): { from: number; to: number } | null {
	const from = stages.findIndex((stage) => stage.name === 'model_evaluation');
	const to = stages.findIndex((stage) => stage.name === 'hyperparameter_tuning');
	return from >= 0 && to > from ? { from, to } : null;
}
