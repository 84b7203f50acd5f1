"""The training context of tools, and the facts that every agent after the split receives."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.agents.state import AgentNote, SessionState
from app.errors import InvalidInput
from app.modeling.facts.conversion import ProblemFact
from app.modeling.problem.family_catalog import FAMILIES_BY_NAME, LINEAR_FAMILY
from app.modeling.problem.folds import SplitKind
from app.tools.context.preferences import read_preferences
from app.tools.context.tool_context import TrainingContext


def make_training_context(state: SessionState, deadline_s: float = 60.0) -> TrainingContext:
    return TrainingContext(
        state.problem,
        state.split.folds,
        deadline_s,
        state.fit_slots,
        allowed_families(state),
        state.plan.wants_drivers,
        is_single_model=model_choice(state) != "ensemble",
        slowness=1.0 if state.training_preferences.deterministic else state.split.slowness,
        time_limit_s=state.plan.time_limit_s,
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
    notes: Sequence[AgentNote] = ()
    """Notes of the agents so far, oldest first."""
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
        families=allowed_families(state),
        preferences=state.preferences,
        notes=state.notes,
        model=model_choice(state),
    )


def model_choice(state: SessionState) -> str:
    """Return `ensemble`, `single` or `interpretable`: the plan's choice, else that of `preferred_model`."""
    return state.plan.model or preferred_model(state.goal, state.preferences)


def allowed_families(state: SessionState) -> tuple[str, ...]:
    """Return the only families that may be fitted besides the baseline; empty for any.

    An interpretable model is of the linear family, whatever else the plan names. Raises InvalidInput
    `families_do_not_fit` if none of the plan's families fits the kind of problem.
    """
    kind = state.problem.kind.value
    if model_choice(state) == "interpretable":
        return (LINEAR_FAMILY[kind],)
    fitting = tuple(name for name in state.plan.families if kind in FAMILIES_BY_NAME[name].kinds)
    if state.plan.families and not fitting:
        others = ", ".join(family.name for family in FAMILIES_BY_NAME.values() if kind in family.kinds)
        names = " and ".join(state.plan.families)
        raise InvalidInput("families_do_not_fit", f"{names} cannot do {kind}. These families can: {others}.")
    return fitting


_SINGLE_MODEL = re.compile(r"\b(simple|simplest|single)\s+model\b|\bno ensembles?\b", re.IGNORECASE)
_INTERPRETABLE_MODEL = re.compile(r"\b(interpretable|explainable|transparent|linear)\s+model\b", re.IGNORECASE)


def preferred_model(goal: str, preferences: Mapping[str, Any]) -> str:
    """Return `ensemble`, `single` (the best family alone) or `interpretable` (a linear model).

    The preference `model` decides; without one the goal's words do.
    """
    if preference := read_preferences(preferences).model:
        return preference
    # "An interpretable model, no ensembles" asks for both, and a linear model is no ensemble.
    if _INTERPRETABLE_MODEL.search(goal):
        return "interpretable"
    return "single" if _SINGLE_MODEL.search(goal) else "ensemble"
