"""Figures of the groups that have enough rows: `mean pages by author, only authors with more than 3 books`."""

from collections.abc import Iterator

from app.agents.questions.composition.plans.counting import bounded_figure, group_of
from app.agents.questions.composition.plans.measure_figures import (
    IMPLIED_COST,
    figures_of,
    names_function,
    take_order,
)
from app.agents.questions.composition.sketch import Sketch
from app.agents.questions.composition.steps.number_steps import bounded_expression
from app.agents.questions.frames.group_figures import values_of
from app.agents.questions.question_reading import QuestionReading
from app.agents.questions.rows_plan import start_plan
from app.plans import build
from app.plans.plan import Plan


def plan_bounded_groups(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """Figures of each group whose number of rows meets a bound. The groups may be named again beside it."""
    if len(sketch.bounds) != 1 or len(reading.keys) != 1 or not sketch.measures:
        return
    [bound], [key] = sketch.bounds, reading.keys
    table = bound.mention.table
    nouns = [m for m in (*sketch.heads, *sketch.displayed, *sketch.rows) if m.place != bound.mention.place]
    # A noun beside the bound may only repeat the groups: another one asks for something that this plan leaves
    # out.
    if any(group_of(reading, noun, table) != key for noun in nouns):
        return
    if any(measure.table != table or measure.divisor for measure in sketch.measures):
        return  # joined rows would be counted several times
    number, base = bounded_figure(sketch, reading, bound.mention)
    figures = [figure for measure in sketch.measures for figure in figures_of(sketch, measure)]
    draft = start_plan(reading, [key, *values_of([number, *figures])], base or table)
    draft.group([key], [*figures, number])
    draft.keep(bounded_expression(bound, number.name))
    order, name = take_order(sketch), draft.name_of(key)
    by_figure = [] if order.descending is None else [(figures[0].name, order.descending)]
    # The name decides between equal figures, so that the order is the same each time.
    draft.steps.append(build.sort(*by_figure, (name, False)))
    if order.limit:
        draft.steps.append(build.limit(order.limit))
    is_named = all(names_function(sketch, measure) for measure in sketch.measures)
    yield draft.plan(), 0.0 if is_named else IMPLIED_COST
