"""How much a model leans on each raw column."""

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from app.modeling.fitting import Spec, fit_rows, output_of
from app.modeling.labels import labels_of
from app.modeling.plain import rounded
from app.modeling.problem import Problem
from app.modeling.recipe import inputs_of
from app.modeling.results import Importance, ImportanceFacts
from app.modeling.scores import SCORES, Predicted
from app.modeling.split import Fold

MOST_FOLDS = 2
MOST_ROWS = 2000


def permutation_importance(
    frame: pd.DataFrame, problem: Problem, spec: Spec, made_folds: list[Fold], repeats: int = 5
) -> ImportanceFacts:
    """The metric's loss on rows that did not teach, when one raw column is shuffled among them.

    Raw columns are shuffled before the recipe, so a column counts with everything made from it. The last folds
    are used (with time order: the ones with the most history), at most 2,000 of their rows.
    """
    labels = labels_of(frame, problem)
    inputs = inputs_of(frame, problem)
    sign = 1 if SCORES[problem.metric].greater_is_better else -1
    rng = np.random.default_rng(spec.seed)
    losses: dict[str, list[float]] = {str(name): [] for name in _shuffled_columns(inputs, problem)}
    bases: list[float] = []
    rows = 0
    for fold in made_folds[-MOST_FOLDS:]:
        test = fold.test[:MOST_ROWS]
        rows += len(test)
        model = fit_rows(frame, labels, fold.train, problem, spec)
        if fold.history is not None:
            model.named_steps["recipe"].remember(inputs.iloc[fold.history])
        truth, given = labels.iloc[test].to_numpy(), inputs.iloc[test]

        def score(rows: pd.DataFrame, model: Pipeline = model, truth: np.ndarray = truth) -> float:
            output = output_of(model, rows, problem, spec.threads)
            return sign * SCORES[problem.metric].compute(Predicted(truth, output, problem.positive_index))

        base = score(given)
        bases.append(sign * base)
        for name, found in losses.items():
            for _ in range(repeats):
                shuffled = given.assign(**{name: given[name].to_numpy()[rng.permutation(len(given))]})
                found.append(base - score(shuffled.astype({name: given[name].dtype})))
    importances = [_summary(name, np.array(found)) for name, found in losses.items()]
    importances.sort(key=lambda importance: -importance["mean"])
    return {
        "metric": problem.metric,
        "importances": importances,
        "repeats": repeats,
        "base_score": rounded(float(np.mean(bases))),
        "rows": rows,
        "figures": [],
    }


def _shuffled_columns(inputs: pd.DataFrame, problem: Problem) -> list[str]:
    fixed = {problem.time_column, problem.group_column}
    return [name for name in inputs.columns if name not in fixed]


def _summary(name: str, losses: np.ndarray) -> Importance:
    mean, std = float(losses.mean()), float(losses.std(ddof=1))
    return {
        "column": name,
        "mean": rounded(mean) or 0.0,
        "std": rounded(std) or 0.0,
        "helps": mean - 2 * std > 0,
    }
