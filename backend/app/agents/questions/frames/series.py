"""Figures along time or along an order: running totals, moving averages and changes between periods."""

from app.agents.questions.conditions.date_columns import date_reference
from app.agents.questions.figures import measured
from app.agents.questions.question_reading import QuestionReading, Value
from app.agents.questions.rows_plan import start_plan
from app.plans import build
from app.plans.plan import Plan


def moving_average(reading: QuestionReading) -> Plan | None:
    """`12-month moving average of spending`."""
    match = reading.text.find(
        "N=width @period? moving|rolling average|mean|avg of? C=column"
    ) or reading.text.find("moving|rolling average|mean of? C=column over N=width @period?")
    if match is None:
        return None
    width, item = reading.text.item(match, "width"), reading.text.item(match, "column")
    reference = date_reference(reading)
    if width is None or item is None or reference is None or not width.number or width.number > 1000:
        return None
    reading.text.use(match.places, "figure")
    value = measured(reading, item)
    conditions = [c.expression for c in reading.conditions]
    draft = start_plan(reading, [value, Value(reference.expression, "", "datetime")], conditions=[])
    measure, date = draft.name_of(value), draft.source.names[reference.name]
    name = f"moving mean {value.label}"
    draft.steps.append(
        build.window(name, "moving_mean", measure, order=[(date, False)], rows=int(width.number))
    )
    for condition in conditions:
        draft.keep(condition)
    draft.steps.append(build.sort((date, False)))
    draft.select([date, measure, name])
    return draft.plan()
