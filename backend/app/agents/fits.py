"""Fit summaries as the state carries them, their weights and the order of their folds."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.agents.state import Json
from app.tools.fit_parts import fitted_folds, merge_parts

_SUMMARY_KEYS = (
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
)


def summarise_fits(fits: Iterable[Mapping[str, Any]]) -> list[Json]:
    return [{**{key: fit[key] for key in _SUMMARY_KEYS}, "run": fitted_folds(fit)} for fit in fits]


def merge_fits(earlier: Iterable[Json], new: Iterable[Json]) -> list[Json]:
    """Merge fits into one entry per candidate, in the order of first appearance."""
    parts: dict[str, list[Json]] = {}
    for fit in (*earlier, *new):
        parts.setdefault(fit["name"], []).append(fit)
    return [_merge_parts(fits) for fits in parts.values()]


def fold_order(folds: Mapping[str, Any]) -> list[int]:
    """Return the fold numbers in fitting order.

    With time order the latest fold comes first: it has the most history and is nearest to the predicted time.
    """
    numbers = list(range(int(folds["count"])))
    return numbers[::-1] if folds["kind"] == "time" else numbers


def ensemble_weights(candidates: Iterable[str], ensemble: Mapping[str, Any]) -> dict[str, float]:
    """Return the ensemble weight of each candidate; 0 for candidates that the ensemble left out."""
    return {name: float(ensemble["weights"].get(name, 0.0)) for name in candidates}


def _merge_parts(fits: Sequence[Json]) -> Json:
    """Join the fits of one candidate. The newest fit of a fold replaces older ones."""
    covered_folds: set[int] = set()
    newest_fits: list[Json] = []
    for fit in reversed(fits):
        if not covered_folds.intersection(fit["run"]):
            covered_folds.update(fit["run"])
            newest_fits.insert(0, fit)
    return merge_parts(newest_fits)
