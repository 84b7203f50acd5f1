import type { Schema } from '#lib/api/client.ts';

export type Metric = NonNullable<Schema<'ForkSettings'>['metric']>;

/** What a session predicts; `kind` is empty where it is not known yet. */
export interface SessionProblem {
	target: string;
	kind: string;
	classes: number;
}

const OF_CLASSES: readonly Metric[] = ['roc_auc', 'accuracy', 'balanced_accuracy', 'f1', 'precision', 'recall', 'log_loss', 'mcc'];
/** They need one class that counts as the positive one. */
const OF_TWO_CLASSES: readonly Metric[] = ['average_precision', 'brier'];
const OF_AMOUNTS: readonly Metric[] = ['rmse', 'mae', 'median_ae', 'mape', 'r2', 'rmsle'];

/** The metrics that candidates of this problem can be compared by; without a problem those of all. */
export function metricsOf(problem: SessionProblem | null): readonly Metric[] {
	if (problem?.kind === 'regression') return OF_AMOUNTS;
	if (problem?.kind !== 'classification') return [...OF_CLASSES, ...OF_TWO_CLASSES, ...OF_AMOUNTS];
	return problem.classes > 2 ? OF_CLASSES : [...OF_CLASSES, ...OF_TWO_CLASSES];
}
