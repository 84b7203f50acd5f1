"""Groups in the order of one of their figures: `streets ranked by average rent`."""

from collections.abc import Iterator

from app.agents.questions.composition.plans.measure_figures import (
    IMPLIED_COST,
    UNUSED_COST,
    figures_of,
    fits_types,
    is_pace,
    names_function,
)
from app.agents.questions.composition.sketch import Sketch
from app.agents.questions.frames.group_figures import plan_figures
from app.agents.questions.ordering import Order
from app.agents.questions.question_reading import QuestionReading
from app.plans.plan import Plan

_RANKING = frozenset({"rank", "ranked", "ranking"})


def is_descending(sketch: Sketch, reading: QuestionReading) -> bool:
    """Tell if the largest comes first: where it is said, or for ranks, the first of which has the most.

    The first by a time is the fastest.
    """
    if sketch.order in ("down", "up") or sketch.ordered_by is None:
        return sketch.order == "down"
    ranks = any(_RANKING & {*item.text.split()} for item in reading.text.items)
    return ranks and not is_pace(sketch.ordered_by)


def plan_ordered_groups(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """Order the things that several rows are about by a figure of each: a listed row has no mean."""
    nouns = [noun for noun in (*sketch.heads, *sketch.displayed) if noun.value]
    order = sketch.ordered_by
    if order is None or order.value is None or len(nouns) != 1 or not nouns[0].comes_back:
        return
    if reading.keys or sketch.measures or sketch.counts or sketch.ranking:
        return
    figures = figures_of(sketch, order)
    if len(figures) != 1 or not fits_types(figures):
        return
    value = nouns[0].value
    # Things ordered by their own name need no figure: this is a list.
    if value is None or value.reference == order.value.reference:
        return
    reading.keys.append(value)
    is_named = names_function(sketch, order)
    if not is_named:
        reading.assume(f"The {figures[0].name} of each `{value.label}` is taken.")
    cost = (0.0 if is_named else IMPLIED_COST) + UNUSED_COST * len(sketch.rows)
    yield plan_figures(reading, figures, Order(is_descending(sketch, reading), sketch.limit)), cost
