"""Plans that a program can ask for: of others the decoder has nothing to say, right or wrong."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from app.agents.goals.words.vocabulary import word_set
from app.plans.expressions import Expression
from app.plans.plan import DeriveStep, GroupStep, Plan, Step

_KINDS = word_set(
    """
    dataset plan join group filter derive select sort limit window column literal compare is_null not and or in
    arithmetic date_part date_trunc cast contains call
    """
)
"""Kinds of steps and expressions of the plans of programs."""
_FUNCTIONS = word_set(
    """
    count count_distinct mean sum median min max stddev quantile correlation share_true share rank lag
    cumulative_sum lower starts_with concat floor seconds_between days_between
    """
)
"""Figures and functions of the plans of programs: no quantile groups, moving means or second places."""


def is_expressible(plan: Plan, derived: Iterable[Expression] = ()) -> bool:
    """Tell if a program can ask for what a plan computes.

    `derived`: the columns that rules make of stored ones, of which the decoder does not know.
    """
    text = plan.model_dump_json()
    if any(expression.model_dump_json() in text for expression in derived):
        return False
    if _has_verdict(plan) or any(_joins_conditions(step) for step in plan.steps):
        return False
    return all(kind in _KINDS for kind in _marks(plan.model_dump(), "kind")) and all(
        function in _FUNCTIONS for function in _marks(plan.model_dump(), "function")
    )


def _has_verdict(plan: Plan) -> bool:
    """Tell if a plan compares figures of groups with each other: whether one is longer than the other."""
    places = [place for place, step in enumerate(plan.steps) if isinstance(step, GroupStep)]
    behind = plan.steps[places[0] :] if places else []
    return any(
        column.expression.kind == "compare"
        for step in behind
        if isinstance(step, DeriveStep)
        for column in step.columns
    )


def _joins_conditions(step: Step) -> bool:
    """Tell if a value of each row is that it meets two conditions at once: programs have one for a share."""
    return isinstance(step, DeriveStep) and any(column.expression.kind == "and" for column in step.columns)


def _marks(part: Any, field: str) -> Iterator[str]:
    """Yield the texts of a field in all parts of a plan."""
    if isinstance(part, list | tuple):
        for inner in part:
            yield from _marks(inner, field)
    elif isinstance(part, Mapping):
        if isinstance(part.get(field), str):
            yield part[field]
        for inner in part.values():
            yield from _marks(inner, field)
