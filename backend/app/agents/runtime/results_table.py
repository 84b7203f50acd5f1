"""The table of results that a chat model reads in place of the whole facts of fits.

Each row has the score, its spread over folds, the difference to the best with its error, seconds and limits.
The keys are those of `FitSummary`, so that whoever reads fits reads the table too.
"""

import statistics
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

from app.json_types import JsonValue

_COLUMNS = (
    "name",
    "estimator",
    "hyperparameters",
    "metric",
    "greater_is_better",
    "score",
    "std",
    "fold_scores",
    "fold_count",
    "folds",
    "fit_s",
    "limited",
    "is_cut",
    "learned_share",
    "run",
    "refitted",
)
_DIGITS = 6
"""Significant digits of a score: beyond them folds differ by chance."""


def shorten_fits(value: JsonValue) -> JsonValue:
    """Return tool values and briefs with a table of results in place of the facts of their fits."""
    if not isinstance(value, dict):
        return value
    fits = value.get("fits")
    if not isinstance(fits, list) or not all(isinstance(fit, dict) and "fold_scores" in fit for fit in fits):
        return value
    return {**value, "fits": [*tabulate(fits)]}


def tabulate(fits: Sequence[Any]) -> list[dict[str, JsonValue]]:
    best = _best(fits)
    return [{**_row(fit), **_difference(fit, best)} for fit in fits]


def _row(fit: Mapping[str, Any]) -> dict[str, JsonValue]:
    row = {key: _round(fit[key]) for key in _COLUMNS if key in fit}
    recipe = fit.get("recipe")
    return {**row, "operations": [str(step.get("op")) for step in recipe]} if recipe else row


def _difference(fit: Mapping[str, Any], best: Mapping[str, Any] | None) -> dict[str, JsonValue]:
    """Return how far a fit is behind the best on the folds of both, and the standard error of that."""
    if best is None or fit is best:
        return {}
    sign = 1.0 if best.get("greater_is_better", True) else -1.0
    pairs = zip(best["fold_scores"], fit["fold_scores"], strict=False)
    # On the same folds alone: scores of other rows differ for other reasons.
    gaps = [sign * (first - second) for first, second in pairs if first is not None and second is not None]
    if not gaps:
        return {}
    error = statistics.stdev(gaps) / sqrt(len(gaps)) if len(gaps) > 1 else None
    return {"behind": _round(statistics.fmean(gaps)), "behind_error": _round(error)}


def _best(fits: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    scored = [fit for fit in fits if fit.get("score") is not None]
    if not scored:
        return None
    choose = max if scored[0].get("greater_is_better", True) else min
    # The score of a single fold may be high by chance: it is no best beside scores of more folds.
    fold_count = max(int(fit.get("fold_count") or 0) for fit in scored)
    return choose(
        (fit for fit in scored if int(fit.get("fold_count") or 0) == fold_count), key=lambda fit: fit["score"]
    )


def _round(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, list):
        return [_round(item) for item in value]
    return {key: _round(item) for key, item in value.items()} if isinstance(value, dict) else value
