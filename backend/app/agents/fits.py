"""Candidates in short, as the state carries them."""

from collections.abc import Iterable, Mapping
from typing import Any

from app.agents.state import Json

_SHORT = (
    "name",
    "estimator",
    "hyperparameters",
    "metric",
    "greater_is_better",
    "score",
    "std",
    "fit_s",
    "limited",
)


def short(fits: Iterable[Mapping[str, Any]]) -> list[Json]:
    return [{key: fit[key] for key in _SHORT} for fit in fits]


def merged(before: Iterable[Json], new: Iterable[Json]) -> list[Json]:
    """The newest of each name, in the order in which names first came."""
    return list({fit["name"]: fit for fit in (*before, *new)}.values())
