"""What the agents tell each other: names and small facts, never data."""

from typing import Any, TypedDict

Json = dict[str, Any]


class LabState(TypedDict, total=False):
    """The pipeline's state. Frames, models and figures are artifacts, named here.

    `step` counts the steps and belongs to the journal. `spent_s` is the time used up since training
    began; planning and analysis, which may wait for the user, do not count.
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
    frame: str
    """The frame that candidates are fitted on."""
    columns: list[Json]
    fits: list[Json]
    """Every candidate so far, in short: name, estimator, score, std, fit_s, hyperparameters."""
    left_out: list[Json]
    tuning_rounds: int
    verdict: Json
    final: Json
    report: Json
    spent_s: float
    result: Json
    """What a completed session shows; see `reporting.results.summarise`."""


LabUpdate = LabState
