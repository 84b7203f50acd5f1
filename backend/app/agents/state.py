"""What the agents tell each other: names and small facts, never data."""

from typing import Any, TypedDict

Json = dict[str, Any]


class LabState(TypedDict, total=False):
    """The pipeline's state. Frames, models and figures are artifacts, named here.

    `step` counts the steps and belongs to the journal. `worked_s` is the session's working time at the last
    look at the clock: waiting for the user does not count.
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
    """The complete problem, with what the analyst excluded."""
    analysis: Json
    """Findings, leaks and suggestions of the exploration, in short."""
    answer: Json
    """What a question about the data was answered with; `{"unanswered"}`, empty where it was."""
    frame: str
    """The frame that candidates are fitted on."""
    columns: list[Json]
    fits: list[Json]
    """Every candidate so far, in short; see `agents.fits`."""
    left_out: list[Json]
    weights: dict[str, float]
    """What each candidate that was blended last weighs in the ensemble."""
    blended: bool
    """The ensemble holds every fit that there is."""
    hands: int
    """Fits that the fleet computes at a time."""
    rounds: int
    """Rounds of fits after the first."""
    verdict: Json
    final: Json
    report: Json
    worked_s: float
    took: dict[str, float]
    """Seconds of each node when it ran last."""
    result: Json
    """What a completed session shows; see `reporting.results.summarise`."""


LabUpdate = LabState
