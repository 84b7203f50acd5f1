"""Probabilities of the aims of a goal: a multinomial logit over `features`.

The weights were fitted to the tuned halves of the corpora and to goals that were written for training, by
`scripts/fit_aim_weights.py`.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from math import exp
from pathlib import Path
from typing import Literal

from app.agents.goals.aims.features import aim_features
from app.agents.goals.goal import Goal
from app.agents.goals.tables.profiles import TableProfile

Aim = Literal["predict", "drivers", "forecast", "explore", "question", "unserved", "nonsense"]
"""`drivers`: explain what a column goes with. `explore`: describe the tables, or find groups of rows.
`question`: figures of stored rows."""
AIMS: tuple[Aim, ...] = (
    "predict",
    "drivers",
    "forecast",
    "explore",
    "question",
    "unserved",
    "nonsense",
)
_FILE = Path(__file__).with_name("weights.json")


@cache
def _weights() -> dict[str, list[float]]:
    """Load the weights of each feature, in the order of `AIMS`."""
    weights: dict[str, list[float]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return weights


@lru_cache(maxsize=16)
def classify_aim(goal: Goal, tables: tuple[TableProfile, ...]) -> Mapping[Aim, float]:
    """Return the probability of each aim; they sum to 1."""
    return weigh_aims(aim_features(goal, tables), _weights())


def weigh_aims(features: Mapping[str, float], weights: Mapping[str, Sequence[float]]) -> dict[Aim, float]:
    logits = [0.0] * len(AIMS)
    for name, value in {"bias": 1.0, **features}.items():
        for place, weight in enumerate(weights.get(name, ())):
            logits[place] += weight * value
    highest = max(logits)
    shares = [exp(logit - highest) for logit in logits]
    return {aim: share / sum(shares) for aim, share in zip(AIMS, shares, strict=True)}
