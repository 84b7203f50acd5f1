"""The training context of tools, and the facts that every agent after the split receives."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.agents.state import SessionState
from app.modeling.facts.conversion import ProblemFact
from app.modeling.problem.folds import SplitKind
from app.tools.context import TrainingContext
from app.tools.preferences import read_preferences


def make_training_context(state: SessionState, deadline_s: float = 60.0) -> TrainingContext:
    return TrainingContext(
        state.problem,
        state.split.folds,
        deadline_s,
        state.fit_slots,
        state.plan.families,
        state.plan.wants_drivers,
    )


@dataclass(frozen=True)
class SplitReason:
    """The kind of the hold-out split and its reason as a sentence."""

    kind: SplitKind
    reason: str


@dataclass(frozen=True, kw_only=True)
class ProblemBrief:
    """The part that the briefs of all agents after the split have in common. `rows`: training rows."""

    goal: str
    problem: ProblemFact
    rows: int
    split: SplitReason
    families: tuple[str, ...]
    preferences: Mapping[str, Any]
    model: str
    """`ensemble`, `single` or `interpretable`, see `preferred_model`."""


def make_problem_brief(state: SessionState) -> ProblemBrief:
    """Make the common part. `Brief(**vars(common), ...)` makes the brief of one agent from it."""
    split = state.split
    return ProblemBrief(
        goal=state.goal,
        problem=state.problem,
        rows=split.train_rows,
        split=SplitReason(split.kind, split.reason),
        families=state.plan.families,
        preferences=state.preferences,
        model=state.plan.model or preferred_model(state.goal, state.preferences),
    )


_SINGLE_MODEL = re.compile(r"\b(simple|simplest|single)\s+model\b|\bno ensembles?\b", re.IGNORECASE)
_INTERPRETABLE_MODEL = re.compile(r"\b(interpretable|explainable|transparent|linear)\s+model\b", re.IGNORECASE)


def preferred_model(goal: str, preferences: Mapping[str, Any]) -> str:
    """Return `ensemble`, `single` (the best family alone) or `interpretable` (a linear model).

    The preference `model` decides; without one the goal's words do.
    """
    if preference := read_preferences(preferences).model:
        return preference
    if _INTERPRETABLE_MODEL.search(goal):
        return "interpretable"
    return "single" if _SINGLE_MODEL.search(goal) else "ensemble"
