"""The brief of the model trainer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from app.agents.training_context import ProblemBrief
from app.modeling.facts.fits import FitSummary
from app.modeling.problem.folds import FoldPlan


@dataclass(frozen=True, kw_only=True)
class TrainerBrief(ProblemBrief):
    """The facts that the first round of candidates is chosen by."""

    frame: str
    column_count: int
    folds: FoldPlan
    time_left_s: float
    fits: Sequence[FitSummary] = ()
    """Results so far, where the evaluation sent the work back; empty at first."""
    fit_slots: Annotated[int, Field(alias="hands")]
    slowness: float = 1.0
    """Factor by which work takes longer than on an idle machine."""
    has_long_tail: Annotated[bool, Field(alias="long_tail")] = False
