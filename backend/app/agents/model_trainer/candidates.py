"""What to fit first: families by problem, size and time."""

from typing import Any

from app.agents.size import START_S, Size
from app.modeling.families.catalog import families_for

BASELINE = "baseline"
FEWEST = 2
LINEAR = {"classification": "LogisticRegression", "regression": "Ridge"}


def choose(
    kind: str, size: Size, time_left_s: float, hands: int, readable: bool = False
) -> list[dict[str, Any]]:
    """The baseline always; as many families as there is time for a useful fit of, two at least.

    `readable`: only what a person can read off its coefficients.
    """
    if readable:
        return [{"estimator": name} for name in (BASELINE, LINEAR[kind])]
    worth = families_for(kind, size.rows, size.columns)
    taken: list[str] = []
    room_s = time_left_s * hands
    for family in worth:
        useful_s = START_S + family.cell_s * size.rows * size.columns
        if useful_s <= min(room_s, time_left_s):
            taken.append(family.name)
            room_s -= useful_s
    if len(taken) < FEWEST:
        cheapest = sorted(worth, key=lambda family: family.cell_s)
        taken = [family.name for family in cheapest[:FEWEST]]
    return [{"estimator": name} for name in (BASELINE, *taken)]
