"""Shares: of rows that meet a condition, and of each group in the whole."""

from app.agents.questions.question_reading import (
    QuestionReading,
    Value,
)
from app.agents.questions.rows_plan import Figure, start_plan
from app.plans import build
from app.plans.plan import Plan

_SHARE = "share|shares|percentage|percentages|percent|proportion|proportions|fraction|pct|%"


def group_shares(reading: QuestionReading) -> Plan:
    """The number of rows of each group, and its share in all rows."""
    draft = start_plan(reading)
    orders = draft.group(reading.keys, [Figure("count", label="rows")])
    names = [draft.name_of(key) for key in reading.keys]
    draft.steps += [
        build.window("share", "share", "rows"),
        build.sort(("rows", True), *((name, False) for name in orders)),
    ]
    draft.select([*names, "rows", "share"])
    return draft.plan()


def share_of_total(reading: QuestionReading, value: Value) -> Plan:
    """Shares of a total: of each group, or of the rows that meet the conditions."""
    if reading.keys:
        draft = start_plan(reading, [value])
        figure = Figure("sum", value)
        orders = draft.group(reading.keys, [figure])
        names = [draft.name_of(key) for key in reading.keys]
        draft.steps += [
            build.window("share", "share", figure.name),
            build.sort((figure.name, True), *((name, False) for name in orders)),
        ]
        draft.select([*names, figure.name, "share"])
        return draft.plan()
    is_mixed = len({c.is_date for c in reading.conditions}) > 1
    # `population of Europe in 2010 as a share of the world`: the period is that of the whole too
    shared = [c.expression for c in reading.conditions if c.is_date and is_mixed]
    conditions = [c.expression for c in reading.conditions if not (c.is_date and is_mixed)]
    draft = start_plan(reading, [value, *(Value(c, "", "boolean") for c in conditions)], conditions=shared)
    where = build.every(conditions)
    part, total = Figure("sum", value, where=where, label=f"{value.label} of these"), Figure("sum", value)
    draft.group([], [part, total])
    draft.steps.append(
        build.derive("share", build.arithmetic("/", build.column(part.name), build.column(total.name)))
    )
    return draft.plan()
