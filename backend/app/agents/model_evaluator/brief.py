"""The briefs of the model evaluator, and the values of its tools that policy and nodes read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from app.agents.state import LeftOut
from app.agents.training_context import ProblemBrief
from app.modeling.facts.fits import FitSummary
from app.modeling.problem.folds import FoldPlan


@dataclass(frozen=True, kw_only=True)
class EvaluatorBrief(ProblemBrief):
    """The facts of both stages. `time_left_s`: for fits; None in a deterministic session."""

    fits: Sequence[FitSummary]
    weights: Mapping[str, float]
    blended: bool
    """True if the ensemble includes all fits."""
    folds: FoldPlan
    time_left_s: float | None
    worked_s: float
    fit_slots: Annotated[int, Field(alias="hands")]
    completed_rounds: Annotated[int, Field(alias="rounds")]


@dataclass(frozen=True, kw_only=True)
class EvaluationBrief(EvaluatorBrief):
    """The brief of the stage `evaluation`. `can_tune`: another round of fits may be requested."""

    stage: str = "evaluation"
    left_out: Sequence[LeftOut] = ()
    can_tune: bool
    can_return: bool = False
    """True if the work may go back to features or training."""


@dataclass(frozen=True, kw_only=True)
class TuningBrief(EvaluatorBrief):
    """The brief of the stage `tuning`. `candidate`: the name that the evaluation preferred."""

    stage: str = "tuning"
    candidate: Annotated[str, Field(alias="chosen")] = ""


@dataclass(frozen=True)
class BlendedModel:
    """The value of `build_ensemble`."""

    name: str
    metric: str
    score: float | None
    weights: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelChoice:
    """The conclusion of `compare_models`."""

    candidate: Annotated[str, Field(alias="chosen")]
    reason: str
    beats_baseline: bool | None
