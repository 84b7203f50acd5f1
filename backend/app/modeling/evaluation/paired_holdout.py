"""The difference between two models on the same rows of a hold-out, with its interval."""

import math

import numpy as np

from app.modeling.evaluation.holdout_outputs import ROW, TRUTH, MemberOutputs
from app.modeling.facts.computation_facts import Interval
from app.modeling.facts.paired_facts import PairedScore, PairFacts
from app.modeling.problem.metrics import METRICS
from app.modeling.recipe.forecast_origins import prediction_rows
from app.modeling.scoring.family_intervals import confidence_level, widen_for_looks
from app.modeling.scoring.intervals import bootstrap_differences, make_resampling
from app.modeling.scoring.scores import SCORERS, Predicted, applicable_metrics
from app.modeling.splits.unit_finding import find_units
from app.modeling.table.json_values import round_significant


def compare_on_holdout(first: MemberOutputs, second: MemberOutputs, seed: int, looks: int) -> PairFacts:
    """Compare two models by rows; differences are those of `second` minus `first`.

    `looks`: final evaluations of the family. Each pair of them may be compared, and the intervals of all pairs
    hold together (Bonferroni). Without the same rows `metrics` is empty, and `reason` says why.
    """
    reason = find_obstacle(first, second)
    if reason is not None:
        return {
            "rows": 0,
            "reason": reason,
            "level": None,
            "method": None,
            "metrics": {},
            "scores": {},
            "better": {},
        }
    predictions = first.predicted, second.predicted
    rows = prediction_rows(first.holdout, first.problem).iloc[first.outputs[ROW].to_numpy()]
    resampling = make_resampling(find_units(rows, first.problem))
    pairs = max(math.comb(looks, 2), 1)
    differences = {
        name: widen_for_looks(difference, pairs)
        for name, difference in bootstrap_differences(
            *predictions, _common_metrics(first, second), resampling, seed
        ).items()
    }
    method = resampling.method
    if pairs > 1:
        method += f"; widened to a level of {100 * confidence_level(pairs):.4g}% for {pairs} pairs"
    return {
        "rows": len(predictions[0].truth),
        "reason": None,
        "level": confidence_level(pairs),
        "method": method,
        "metrics": differences,
        "scores": {name: _score_both(name, *predictions) for name in differences},
        "better": {name: _find_better(name, difference) for name, difference in differences.items()},
    }


def find_obstacle(first: MemberOutputs, second: MemberOutputs) -> str | None:
    """Return why two members cannot be paired, as a sentence; None if they can."""
    a, b = first.problem, second.problem
    if (a.target, a.kind) != (b.target, b.kind):
        return (
            f"They predict different things ({a.target!r}, {a.kind.value}, and {b.target!r}, {b.kind.value}), "
            "so their scores cannot be compared."
        )
    if a.classes != b.classes or (a.horizon, a.outlook, a.barriers) != (b.horizon, b.outlook, b.barriers):
        return f"They predict {a.target!r} in different forms (classes, horizon), so rows cannot be paired."
    if len(first.holdout) != len(second.holdout):
        return (
            f"Their hold-outs have different rows ({len(first.holdout):,} and {len(second.holdout):,}), so "
            "rows cannot be paired; compare the intervals of both instead."
        )
    if not _has_same_rows(first, second):
        return (
            "Their hold-outs are different rows of equal number, so rows cannot be paired; compare the "
            "intervals of both instead."
        )
    return None


def _has_same_rows(first: MemberOutputs, second: MemberOutputs) -> bool:
    """Compare the values of all columns that both hold-outs have, and the labels."""
    # A fork may have left out columns, and its rows are still the same ones.
    common = [name for name in first.holdout.columns if name in second.holdout.columns]
    if not first.holdout[common].equals(second.holdout[common]):
        return False
    return all(
        np.array_equal(first.outputs[name].to_numpy(), second.outputs[name].to_numpy()) for name in (ROW, TRUTH)
    )


def _common_metrics(first: MemberOutputs, second: MemberOutputs) -> list[str]:
    """Return the metrics that are defined for both alike, those that either was optimised for first."""
    own = dict.fromkeys([first.problem.metric, second.problem.metric])
    names = dict.fromkeys([*own, *(metric.name for metric in applicable_metrics(first.problem))])
    has_same_costs = first.problem.costs == second.problem.costs
    # A cost by other prices of mistakes is another metric.
    return [name for name in names if name != "cost" or has_same_costs]


def _score_both(metric: str, first: Predicted, second: Predicted) -> PairedScore:
    return {
        "first": round_significant(SCORERS[metric](first)),
        "second": round_significant(SCORERS[metric](second)),
    }


def _find_better(metric: str, difference: Interval) -> str | None:
    """Return which of the two is better beyond chance: `first`, `second` or None."""
    low, high = difference["low"], difference["high"]
    if low is None or high is None or low <= 0 <= high:
        return None
    # The interval lies on one side of 0; which model that favours depends on the metric.
    return "second" if (low > 0) is METRICS[metric].greater_is_better else "first"
