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
LEARNED_WEIGHT, MIN_SHARE = 0.25, 1e-3
"""Weight of the probabilities of another reader, and the least that an aim has. Of half of the held-out
training goals the likeliest aim is right in 89.5 % without the other reader, and in 91.6, 91.9 and 90.2 % with
a weight of 0.25, 0.5 and 0.75; the least of them leaves goals in other languages to the classifier."""
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


def join_aims(first: Mapping[Aim, float], second: Mapping[Aim, float]) -> dict[Aim, float]:
    """Join the probabilities of the classifier with those of another reader: a weighted geometric mean.

    How likely the goal is nonsense is what the classifier says: the other reader makes sense of any words.
    """
    shares = {
        aim: max(first[aim], MIN_SHARE) ** (1 - LEARNED_WEIGHT) * max(second[aim], MIN_SHARE) ** LEARNED_WEIGHT
        for aim in AIMS
        if aim != "nonsense"
    }
    scale = (1 - first["nonsense"]) / sum(shares.values())
    return {aim: shares[aim] * scale if aim in shares else first[aim] for aim in AIMS}
