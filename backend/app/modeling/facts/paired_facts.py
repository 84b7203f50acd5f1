"""Facts of the comparison of two sessions on the rows of one hold-out."""

from typing import TypedDict

from app.modeling.facts.computation_facts import Interval


class PairFacts(TypedDict):
    """One entry of `compare.compare_on_holdout`; `metrics`: those of the second session minus the first.

    `reason`: why rows cannot be paired. `better`: `first` or `second` where the difference is beyond chance.
    """

    rows: int
    reason: str | None
    level: float | None
    method: str | None
    metrics: dict[str, Interval]
    better: dict[str, str | None]
