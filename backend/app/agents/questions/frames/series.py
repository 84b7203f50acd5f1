"""Figures along time or along an order: running totals, moving averages and changes between periods."""

from app.agents.questions.date_columns import date_reference
from app.agents.questions.figures import default_function, measured, take_figures
from app.agents.questions.grouping import make_period
from app.agents.questions.question_reading import NotUnderstood, QuestionReading, Value, is_measurable
from app.agents.questions.rows_plan import Figure, PlanDraft, start_plan
from app.plans import build
from app.plans.plan import Plan


def running_total(reading: QuestionReading) -> Plan | None:
    """`cumulative kilometres by week`, `running total of sales`."""
    match = reading.text.find(
        "running|cumulative|cumulated|accumulated total|sum? of? C=column"
    ) or reading.text.find("running|cumulative|cumulated|accumulated total|sum|count|number? of? E=rows")
    if match is None:
        return None
    reading.text.use(match.places, "figure")
    item = reading.text.item(match, "column")
    figure = Figure("sum", measured(reading, item)) if item else Figure("count", label="rows")
    draft, order = _by_period(reading, figure)
    name = f"running {figure.name}"
    draft.steps.append(
        build.window(name, "cumulative_sum", figure.name if draft.steps else None, order=[(order, False)])
    )
    draft.steps.append(build.sort((order, False)))
    draft.select([order, figure.name, name])
    return draft.plan()


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


def growth(reading: QuestionReading) -> Plan | None:
    """`percent change of sales from year to year`, `month over month growth of revenue`."""
    if not reading.text.has("growth|grow|grew|change|changed|increase|increased|develop"):
        return None
    if len(reading.keys) != 1:
        return None
    figures = take_figures(reading)
    if not figures:
        match = reading.text.find("C=column")
        item = reading.text.item(match, "column") if match else None
        if match is None or item is None or not any(is_measurable(m.column) for m in item.columns):
            return None
        reading.text.use(match.places, "figure")
        value = measured(reading, item)
        figures = [Figure(default_function(value.reference.column) if value.reference else "sum", value)]
    reading.text.take_any(("growth|grow|grew|change|changed|increase|increased|develop",), "figure")
    for phrase in ("percent|percentage|relative|%", "rate|rates", "change|changes", "total|totals"):
        reading.text.take(phrase, "figure")
    figure = figures[0]
    draft, order = _by_period(reading, figure)
    draft.steps.append(build.window("before", "lag", figure.name, order=[(order, False)]))
    before, now = build.column("before"), build.column(figure.name)
    draft.steps.append(build.derive("change", build.arithmetic("-", now, before)))
    draft.steps.append(build.derive("relative change", build.arithmetic("/", build.column("change"), before)))
    draft.steps += [build.keep(build.is_present(before)), build.sort((order, False))]
    draft.select([order, figure.name, "change", "relative change"])
    return draft.plan()


def _by_period(reading: QuestionReading, figure: Figure) -> tuple[PlanDraft, str]:
    """The figure of each period; of each day where no period is asked for."""
    keys = reading.keys
    if not keys:
        reference = date_reference(reading)
        if reference is None:
            raise NotUnderstood("A running figure needs a column of dates.")
        keys = [make_period(reference, "day")]
    if len(keys) > 1:
        raise NotUnderstood("It asks for the change along time, and for groups.")
    draft = start_plan(reading, [*keys, *([figure.value] if figure.value else [])])
    draft.present([figure])
    orders = draft.group(keys, [figure])
    return draft, orders[0]
