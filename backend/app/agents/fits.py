"""Candidates in short, as the state carries them, and what each weighs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.agents.state import Json
from app.tools.fit_parts import fitted_folds, merge_parts

_SHORT = (
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


def short(fits: Iterable[Mapping[str, Any]]) -> list[Json]:
    return [{**{key: fit[key] for key in _SHORT}, "run": fitted_folds(fit)} for fit in fits]


def merged(before: Iterable[Json], new: Iterable[Json]) -> list[Json]:
    """One entry a candidate, over all its parts, in the order in which names first came."""
    parts: dict[str, list[Json]] = {}
    for fit in (*before, *new):
        parts.setdefault(fit["name"], []).append(fit)
    return [_over(fits) for fits in parts.values()]


def weights_of(asked: Iterable[str], blend: Mapping[str, Any]) -> dict[str, float]:
    """What each candidate that was to be blended weighs; 0 for those that did not help."""
    return {name: float(blend["weights"].get(name, 0.0)) for name in asked}


def _over(fits: Sequence[Json]) -> Json:
    """Parts of one candidate; a fold that was fitted again counts once, by its newest fit."""
    seen: set[int] = set()
    kept: list[Json] = []
    for fit in reversed(fits):
        if not seen.intersection(fit["run"]):
            seen.update(fit["run"])
            kept.insert(0, fit)
    return merge_parts(kept)
