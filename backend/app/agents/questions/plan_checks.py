"""Checks of a plan against the question that it is to answer."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from app.agents.goals.words.tokenizer import words
from app.agents.questions.composition.composer import plan_columns
from app.agents.questions.question_reading import QuestionReading, is_measurable
from app.plans.plan import Aggregation, GroupStep, Plan, PlanSource

_FIGURES = frozenset({"sum", "mean", "median", "max", "stddev", "variance", "quantile"})
"""Aggregates that say nothing of numbers that only name things; the least of dates and ids may be asked for."""


def neglects_question(plan: Plan, reading: QuestionReading) -> bool:
    """Tell if a plan computes with identifiers, or forgets what the question asks for each of."""
    return _computes_with_identifiers(plan, reading) or _forgets_groups(plan, reading)


def _computes_with_identifiers(plan: Plan, reading: QuestionReading) -> bool:
    """Tell if a plan takes a figure of numbers that only name things, without their full name."""
    names = {figure.column for figure in _aggregations(plan) if figure.function in _FIGURES}
    sentence = " ".join(item.text for item in reading.text.items)
    return any(
        column.name in names
        and column.is_number
        and not is_measurable(column)
        # Who writes the full name of an identifier, such as `mean order id`, wants it computed.
        and " ".join(words(column.name)) not in sentence
        for column in plan_columns(plan, reading.scope)
    )


def _forgets_groups(plan: Plan, reading: QuestionReading) -> bool:
    """Tell if a question asks for something per something else, and a plan neither groups nor divides."""
    texts = [item.text for item in reading.text.items]
    # `per cent` asks for no groups.
    is_asked = any(text == "per" and following != "cent" for text, following in pairwise(texts))
    return is_asked and not any(_divides(step) for step in _steps(plan))


def _divides(step: Any) -> bool:
    return (
        step.kind in ("pivot", "window")
        or bool(getattr(step, "keys", ()))
        or any(mark in step.model_dump_json() for mark in ('"op":"/"', '"function":"slope"'))
    )


def _aggregations(plan: Plan) -> Iterator[Aggregation]:
    for step in _steps(plan):
        if isinstance(step, GroupStep):
            yield from step.aggregations


def _steps(plan: Plan) -> Iterator[Any]:
    if isinstance(plan.source, PlanSource):
        yield from _steps(plan.source.plan)
    yield from plan.steps
