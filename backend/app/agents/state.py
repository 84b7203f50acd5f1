"""The pipeline's state: names and small facts that agents pass on, never data."""

from typing import Any, TypedDict

Json = dict[str, Any]


class LabState(TypedDict, total=False):
    """State of the graph. Frames, models and figures are artifacts and appear here by name.

    `step` counts the steps and belongs to the journal. `worked_s` is the session's working time at the last
    reading of the clock, without the time spent waiting for the user.
    """

    step: int
    goal: str
    preferences: Json
    plan: Json
    """The planner's `Plan`."""
    retrieved: Json
    """`{"frame", "rows", "target", "exclude", "note"}`."""
    split: Json
    """`modeling.results.SplitFacts`."""
    problem: Json
    """The complete problem, including the columns that the analyst excluded."""
    analysis: Json
    """Summary of the exploration: findings, leaks and suggested cleaning."""
    answer: Json
    """`{"unanswered"}`: the reason why a question has no answer; empty if it was answered."""
    frame: str
    """The frame that candidates are fitted on."""
    columns: list[Json]
    fits: list[Json]
    """Summaries of all candidates so far; see `agents.fits`."""
    left_out: list[Json]
    weights: dict[str, float]
    """Weight of each candidate in the latest ensemble."""
    blended: bool
    """True if the ensemble includes all fits."""
    hands: int
    """Number of fits that the workers compute at a time (fit slots)."""
    rounds: int
    """Number of fitting rounds after the first."""
    verdict: Json
    final: Json
    report: Json
    worked_s: float
    took: dict[str, float]
    """Seconds that each node took when it ran last."""
    result: Json
    """The public result of a completed session; see `reporting.results.summarise`."""


LabUpdate = LabState
