"""Figures along time or along an order: running totals, moving averages and changes between periods."""

from app.agents.goals.tables.profiles import Column, row_spacing_s
from app.agents.goals.words.vocabulary import SECONDS_BY_UNIT
from app.agents.questions.conditions.date_columns import date_reference
from app.agents.questions.figures import default_function, measured
from app.agents.questions.frames.group_figures import values_of
from app.agents.questions.grouping import make_period
from app.agents.questions.question_reading import QuestionReading, Value
from app.agents.questions.rows_plan import Figure, start_plan
from app.plans import build
from app.plans.plan import Plan


def moving_average(reading: QuestionReading) -> Plan | None:
    """`12-month moving average of spending`."""
    match = reading.text.find(
        "N=width @period?=period moving|rolling average|mean|avg of? C=column"
    ) or reading.text.find("moving|rolling average|mean of? C=column over N=width @period?=period")
    if match is None:
        return None
    width, item = reading.text.item(match, "width"), reading.text.item(match, "column")
    reference = date_reference(reading)
    if width is None or item is None or reference is None or not width.number or width.number > 1000:
        return None
    reading.text.use(match.places, "figure")
    value = measured(reading, item)
    period = reading.text.item(match, "period")
    unit = period.word.removesuffix("s") if period else ""
    if unit in SECONDS_BY_UNIT and _has_several_rows(reference.column, unit):
        if any(condition.is_date for condition in reading.conditions):
            return None  # the periods before it would be missing from the first averages
        return _average_of_periods(reading, value, make_period(reference, unit), int(width.number))
    conditions = [c.expression for c in reading.conditions]
    draft = start_plan(reading, [value, Value(reference.expression, "", "datetime")], conditions=[])
    measure, date = draft.name_of(value), draft.source.names[reference.name]
    name = f"moving mean {value.label}"
    draft.steps.append(
        build.window(name, "moving_mean", measure, order=[(date, False)], rows=int(width.number))
    )
    # The rows before the first shown one belong to its average, so that conditions are applied behind the
    # window.
    for condition in conditions:
        draft.keep(condition)
    draft.steps.append(build.sort((date, False)))
    draft.select([date, measure, name])
    return draft.plan()


def _has_several_rows(column: Column, unit: str) -> bool:
    """Tell if a period has several rows: of other things, or at shorter times."""
    spacing_s = row_spacing_s(column)
    return not column.unique or spacing_s is None or spacing_s < MIN_SPACING * SECONDS_BY_UNIT[unit]


MIN_SPACING = 0.9
"""Part of a period from which rows are one for each: months have 28 to 31 days."""


def _average_of_periods(reading: QuestionReading, value: Value, period: Value, width: int) -> Plan:
    """Average the figures of periods: `7-day moving average of load` of rows of every hour."""
    column = value.reference.column if value.reference else None
    figure = Figure(default_function(column) if column else "sum", value)
    word = "total" if figure.function == "sum" else figure.function
    reading.note(f"The {word} of `{value.label}` in each {period.label} is averaged over {width} of them.")
    draft = start_plan(reading, [period, *values_of([figure])])
    draft.present([figure])
    draft.group([period], [figure])
    date, name = draft.name_of(period), f"moving mean {value.label}"
    window = build.window(name, "moving_mean", figure.name, order=[(date, False)], rows=width)
    draft.steps += [window, build.sort((date, False))]
    draft.select([date, figure.name, name])
    return draft.plan()
