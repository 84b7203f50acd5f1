"""What to fit first: families by problem, size and time."""

from collections.abc import Sequence
from typing import Any

from app.agents.size import START_S, Size
from app.modeling.problem.family_catalog import select_families
from app.modeling.problem.kinds import BASELINE

FEWEST = 2
LOGGED = ("LightGBM", "LightGBMExtra", "Ridge")
"""Families that learn a logarithm and say numbers."""
LINEAR = {"classification": "LogisticRegression", "regression": "Ridge"}


def choose(
    kind: str,
    size: Size,
    time_left_s: float,
    hands: int,
    readable: bool = False,
    long_tail: bool = False,
    planned: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """The baseline always; as many families as there is time for a useful fit of, two at least.

    `planned`: just these, however long they take. `readable`: only what a person can read off its
    coefficients. `long_tail`: of a target whose largest values are far out, so that its logarithm is learned
    too.
    """
    if planned:
        forms = [form for name in planned for form in _forms(name, long_tail)]
        return [{"estimator": BASELINE}, *forms]
    if readable:
        return [{"estimator": name} for name in (BASELINE, LINEAR[kind])]
    worth = select_families(kind, size.rows, size.columns)
    taken: list[dict[str, Any]] = []
    room_s = time_left_s * hands
    for family in worth:
        useful_s = START_S + family.seconds_per_cell * size.rows * size.columns
        for candidate in _forms(family.name, long_tail):
            if useful_s <= min(room_s, time_left_s):
                taken.append(candidate)
                room_s -= useful_s
    if len(taken) < FEWEST:
        cheapest = sorted(worth, key=lambda family: family.seconds_per_cell)
        taken = [{"estimator": family.name} for family in cheapest[:FEWEST]]
    return [{"estimator": BASELINE}, *taken]


def _forms(family: str, long_tail: bool) -> list[dict[str, Any]]:
    """A family as it is and, where that is worth it, of the target's logarithm."""
    on_log = {"estimator": family, "name": f"{family}-log", "hyperparameters": {"on_log": True}}
    return [{"estimator": family}, *([on_log] if long_tail and family in LOGGED else [])]
