"""Facts of the comparison of two sessions on the rows of one hold-out."""

from typing import TypedDict

from app.modeling.facts.computation_facts import Interval


class PairedScore(TypedDict):
    """A metric of both sessions, on the rows that both predicted; None where it is not defined for them."""

    first: float | None
    second: float | None


class PairFacts(TypedDict):
    """One entry of `compare.compare_on_holdout`; `metrics`: those of the second session minus the first.

    `reason`: why rows cannot be paired. `better`: `first` or `second` where the difference is beyond chance.
    """

    rows: int
    reason: str | None
    level: float | None
    method: str | None
    metrics: dict[str, Interval]
    scores: dict[str, PairedScore]
    better: dict[str, str | None]
