"""What to fit first: families by problem, size and time."""

from typing import Any

from app.agents.size import Size
from app.modeling.families.catalog import families_for

BASELINE = "baseline"
LINEAR = {"classification": "LogisticRegression", "regression": "Ridge"}


def choose(
    kind: str, size: Size, time_left_s: float, hands: int, readable: bool = False
) -> list[dict[str, Any]]:
    """The baseline always; as many families as get a share of the time that is worth having, two at least.

    `readable`: only what a person can read off its coefficients.
    """
    if readable:
        return [{"estimator": name} for name in (BASELINE, LINEAR[kind])]
    worth = [family.name for family in families_for(kind, size.rows, size.columns)]
    most = max(2, int(time_left_s * hands / (2 * size.least_s)))
    return [{"estimator": name} for name in (BASELINE, *worth[:most])]
