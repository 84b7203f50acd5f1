"""Figures along time: running totals, changes from one period to the next, and first or last times."""

from collections.abc import Iterator
from dataclasses import replace

from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.composition.cues import PERIODS
from app.agents.questions.composition.plans.measure_figures import (
    IMPLIED_COST,
    UNUSED_COST,
    counted_figure,
    figures_of,
    fits_types,
    names_rows_only,
)
from app.agents.questions.composition.sketch import Sketch
from app.agents.questions.conditions.date_columns import date_reference, is_date_told
from app.agents.questions.grammar_words import LOW
from app.agents.questions.grouping import make_period
from app.agents.questions.question_reading import QuestionReading, Value, make_value
from app.agents.questions.rows_plan import Figure, PlanDraft, start_plan
from app.agents.questions.tables.scope import Reference
from app.plans import build
from app.plans.plan import Plan


def plan_series(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`cumulative sales by week`, `month over month change of revenue`, `yearly growth of orders`."""
    kinds = sketch.flags & {"cumulative", "change"}
    if len(kinds) != 1 or sketch.ranking or sketch.pending.superlative:
        return
    figure, base, cost = _figure(sketch, reading)
    if figure is None or len(reading.keys) > 1:
        return
    cost += UNUSED_COST * (len(sketch.heads) + len(sketch.displayed))
    keys = [*reading.keys]
    if not keys:
        reference = date_reference(reading)
        if reference is None:
            return
        keys, cost = [make_period(reference, "day")], cost + 0.05
        # A change needs its period to be named: from day to day is one of many.
        if "change" in kinds:
            return
    if "change" in kinds and any(_has_no_order(key) for key in keys):
        return  # from barley to maize nothing grows
    draft = start_plan(reading, [*keys, *([figure.value] if figure.value else [])], base)
    draft.present([figure])
    order = draft.group(keys, [figure])[0]
    label = draft.name_of(keys[0])
    if "cumulative" in kinds:
        yield _running(draft, figure, order, label), cost
    else:
        yield _changes(draft, figure, order, label, "whole_series" in sketch.flags), cost


def plan_largest_change(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`which year had the largest increase in sales`: the period with the extreme change."""
    word = sketch.ranking.word if sketch.ranking else sketch.pending.superlative
    periods = [*(head for head in sketch.heads if head.item.word in PERIODS), *sketch.keys]
    if "change" not in sketch.flags or not word or len(periods) != 1 or "cumulative" in sketch.flags:
        return
    figure, base, cost = _figure(of_ranked(sketch), reading)
    if figure is None and not (sketch.measures or sketch.rows or of_ranked(sketch).measures):
        figure, cost = Figure("count", label="rows"), IMPLIED_COST
    key = periods[0].value
    if figure is None or key is None or _has_no_order(key) or len(sketch.heads) + len(sketch.keys) > 1:
        return
    # Of single weeks, from one to the next, nothing is left to be compared.
    if any(
        condition.column is not None and condition.column == key.reference for condition in reading.conditions
    ):
        return
    draft = start_plan(reading, [key, *([figure.value] if figure.value else [])], base)
    draft.present([figure])
    order = draft.group([key], [figure])[0]
    measured = "relative change" if "share" in sketch.flags else "change"
    _add_change(draft, figure, order)
    # The largest drop is the lowest change.
    is_down = names_decline(reading) == (word in LOW)
    draft.steps.append(build.window("rank", "rank", order=[(measured, is_down)]))
    draft.keep(build.compare("=", build.column("rank"), build.literal(1)))
    draft.select([draft.name_of(key), figure.name, "change", "relative change"])
    yield draft.plan(), cost


def names_decline(reading: QuestionReading) -> bool:
    """Tell if a question asks for a change to less: the largest drop."""
    return any(item.text in _DECLINES for item in reading.text.items)


_DECLINES = word_set(
    "drop drops dropped fall falls fell fallen decrease decreases decreased decline declines declined loss lost"
    " lose shrink shrank reduction"
)
"""Words of changes to less."""


def of_ranked(sketch: Sketch) -> Sketch:
    """The sketch with what its superlative is said of as its measure, or its rows."""
    measure = sketch.ranking.measure if sketch.ranking else None
    if measure is None:
        return sketch
    if measure.is_rows:
        return replace(sketch, rows=(*sketch.rows, measure))
    return replace(sketch, measures=(*sketch.measures, measure))


def _has_no_order(key: Value) -> bool:
    """Tell if a group is a text or a yes and no, between which no time passes."""
    reference = key.reference
    return (
        reference is not None
        and not reference.column.is_number
        and reference.column.type in ("text", "boolean")
    )


def _figure(sketch: Sketch, reading: QuestionReading) -> tuple[Figure | None, str | None, float]:
    if len(sketch.measures) == 1:
        figures = figures_of(sketch, sketch.measures[0])
        return (figures[0] if fits_types(figures) and len(figures) == 1 else None), None, IMPLIED_COST / 2
    if sketch.rows and not sketch.measures and names_rows_only(sketch, reading):
        figure, base = counted_figure(reading, sketch.rows[0])
        return figure, base, 0.05
    return None, None, 0.0


def _running(draft: PlanDraft, figure: Figure, order: str, label: str) -> Plan:
    name = f"running {figure.name}"
    draft.steps.append(build.window(name, "cumulative_sum", figure.name, order=[(order, False)]))
    draft.steps.append(build.sort((order, False)))
    draft.select([label, name, figure.name])
    return draft.plan()


def _changes(draft: PlanDraft, figure: Figure, order: str, label: str, keeps_first: bool) -> Plan:
    """The figure of each period with its change; the first period, which has none, if it is kept."""
    _add_change(draft, figure, order)
    if not keeps_first:
        draft.keep(build.is_present(build.column("before")))
    draft.steps.append(build.sort((order, False)))
    draft.select([label, figure.name, "change", "relative change"])
    return draft.plan()


def _add_change(draft: PlanDraft, figure: Figure, order: str) -> None:
    """Add the change of a figure from the period before, and its share of what it was then."""
    draft.steps.append(build.window("before", "lag", figure.name, order=[(order, False)]))
    before, now = build.column("before"), build.column(figure.name)
    draft.steps.append(build.derive("change", build.arithmetic("-", now, before)))
    draft.steps.append(build.derive("relative change", build.arithmetic("/", build.column("change"), before)))


def plan_first_or_last_time(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """Yield the first or last time of the rows: `when did customers from Oslo order for the first time`."""
    flags = sketch.flags & {"first moment", "last moment"}
    if len(flags) != 1 or sketch.measures or sketch.keys or sketch.counts:
        return
    date = _date_of_rows(sketch, reading)
    if date is None:
        return
    named_times = [
        mention.value
        for mention in (*sketch.displayed, *sketch.heads)
        if mention.value and mention.value.type == "datetime"
    ]
    named_columns = len(sketch.displayed) + len([mention for mention in sketch.heads if mention.value])
    time = named_times[0] if named_times else make_value(date)
    figure = Figure("min" if "first moment" in flags else "max", time)
    draft = start_plan(reading, [time])
    draft.group([], [figure])
    yield draft.plan(), UNUSED_COST * (named_columns - len(named_times))


def _date_of_rows(sketch: Sketch, reading: QuestionReading) -> Reference | None:
    """Find the first date of the tables of a question: those of its rows, heads and conditions first.

    Dates that are stored as text have no order, so they are passed over.
    """
    names = [mention.table for mention in reversed(sketch.rows)]
    names += [mention.table for mention in sketch.heads if mention.table]
    names += [condition.column.table for condition in reading.conditions if condition.column]
    tables = [reading.scope.table(name) for name in (*names, *(t.name for t in reading.scope.tables))]
    dates = [Reference(table.name, c) for table in tables for c in table.dates if not c.is_stored_as_text]
    fitting = (date for date in dates if is_date_told(reading, date) and date.table == dates[0].table)
    return next((date for date in (*fitting, *dates)), None)
