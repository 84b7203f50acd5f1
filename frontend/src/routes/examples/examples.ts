import type { Schema } from '#lib/api/client.ts';
import type { ColumnProfile } from '#lib/data/profile.ts';
import type { Understood } from '#lib/session/events.ts';
import type { ScoreRound } from '#lib/session/score-rounds.svelte.ts';
import type { ShownStatus } from '#lib/ui/status.ts';
import type { TimelineItem, TimelineStep } from '#lib/session/timeline.svelte.ts';

/** Made-up data for the page of components. */
export const STATUSES: ShownStatus[] = [
	'queued', 'running', 'awaiting_user', 'awaiting_fits', 'paused', 'cancelling', 'completed', 'not_understood', 'failed', 'cancelled'
];

const call = (title: string, text: string): TimelineItem => ({ key: title, kind: 'call', title, text, seconds: 0.2, failed: false, call: 'tool:0.0' });

export const STEPS: TimelineStep[] = [
	{ step: 1, node: 'planning', state: 'done', seconds: 0.4, items: [call('list_datasets', 'passengers (1,313 rows)')] },
	{ step: 2, node: 'data_retrieval', state: 'done', seconds: 0.2, items: [call('fetch_dataset', '1,313 rows, 6 columns.')] },
	{ step: 3, node: 'split', state: 'done', seconds: 0.9, items: [call('lock_holdout', '1,050 training rows, 263 locked.')] },
	{ step: 4, node: 'data_analysis', state: 'running', seconds: null, items: [call('perform_eda', '1 possible leak.')] }
];

const round = (step: number, score: number, std: number | null, folds: number): ScoreRound => ({
	key: String(step), step, call: 'tool:1.0', pointer: '', name: 'Ensemble', metric: 'roc_auc', score, std, folds, foldCount: 5
});

export const ROUNDS: ScoreRound[] = [round(7, 0.83, null, 1), round(9, 0.838, 0.041, 3), round(11, 0.846, 0.029, 5)];

export const UNDERSTOOD: Understood = {
	text: 'I will predict survived (0 or 1) from passengers.', alternatives: []
};

export const PLAN = ['Fetch passengers.', 'Set a hold-out aside.', 'Fit several kinds of model and compare.', 'Write the report.'];

export const WORKFLOW: Schema<'WorkflowDocument'> = {
	nodes: [
		{ id: 'orders', type: 'dataset', config: {} },
		{ id: 'customers', type: 'dataset', config: {} },
		{ id: 'joined', type: 'join', config: {} },
		{ id: 'by_region', type: 'group', config: {} }
	],
	edges: [
		{ from: 'orders', to: 'joined' },
		{ from: 'customers', to: 'joined' },
		{ from: 'joined', to: 'by_region' }
	]
};

export const ROWS: [string, number][] = [['first', 39.1578], ['second', 29.5067], ['third', 24.8164]];

export const COLUMNS: ColumnProfile[] = [
	{ name: 'age', type: 'number', hint: 'numeric', missing: 557, distinct: 98, isUnique: false, top: [], quantiles: [0.17, 21, 30, 41, 71], days: null },
	{
		name: 'sex', type: 'string', hint: 'category', missing: 0, distinct: 2, isUnique: false, quantiles: null, days: null,
		top: [{ value: 'male', count: 851 }, { value: 'female', count: 462 }]
	}
];

export const QUESTION = {
	key: 'example', agent: 'data_analyst', kind: 'clarification', text: 'Will `boat` be known when the model is used?',
	options: ['leave it out', 'use it'], answer_schema: { enum: ['leave it out', 'use it'] }, about: {}
} as unknown as Schema<'QuestionView'>;

export const MARKDOWN = 'The **mean age** by class:\n\n- first: 39.2\n- second: 29.5\n\n> Based on 756 of 1,313 rows.';
