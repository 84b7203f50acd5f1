"""Shares: of rows that meet a condition, and of each group in the whole."""

from app.agents.questions.figures import measured
from app.agents.questions.frames.grouped import finish_groups, plan_figures
from app.agents.questions.grouping import group_compared
from app.agents.questions.items import QuestionItem
from app.agents.questions.ordering import take_order
from app.agents.questions.question_reading import (
    Condition,
    NotUnderstood,
    QuestionReading,
    Value,
    is_measurable,
    make_value,
)
from app.agents.questions.rows_plan import Figure, start_plan
from app.agents.questions.scope import Reference
from app.agents.questions.value_matching import flag_values
from app.plans import build
from app.plans.plan import Plan

_SHARE = "share|shares|percentage|percentages|percent|proportion|proportions|fraction|pct|%"


def rate(reading: QuestionReading) -> Plan | None:
    """`survival rate by sex`: the share of rows with yes in a column."""
    match = reading.text.find("C=column rate|rates") or reading.text.find("rate of C=column")
    item = reading.text.item(match, "column") if match else None
    if match is None or item is None:
        return None
    flags = [m for m in item.columns if flag_values(m.column)]
    if not flags:
        return None
    reading.text.use(match.places, "figure")
    reference = Reference(flags[0].table, flags[0].column)
    _, yes = flag_values(reference.column) or (False, True)
    reading.note(f"The rate is the share of rows where `{reference.column.name}` is {yes}.")
    test = build.compare("=", reference.expression, build.literal(yes))
    label = f"{reference.column.name} rate"
    figure = Figure("share_true", Value(test, label, "boolean"), label=f"share of {reference.column.name}")
    return plan_figures(reading, [figure], take_order(reading))


def share(reading: QuestionReading) -> Plan | None:
    """`share of women who survived`, `percentage of sales online`, `share of each region in revenue`."""
    match = reading.text.find(f"{_SHARE} of? total? C?=column") or reading.text.find(_SHARE)
    if match is None:
        return None
    item = reading.text.item(match, "column")
    if reading.text.has("change|changed|growth|grew|grow|increase|increased"):
        return None
    words_used = [reading.text.items[p].text for p in match.places]
    if len(words_used) == 1 and words_used[0] == "%" and not (reading.conditions or reading.keys):
        return None
    reading.text.use([match.places[0]], "figure")
    reading.text.take_any(("of? E",), "figure")
    measured_conditions = [c for c in reading.conditions if not c.is_compared]
    if (part := _part_of_whole(reading, item)) is not None:
        return part
    if (
        item is not None
        and not item.row_tables
        and any(is_measurable(m.column) for m in item.columns)
        and (reading.keys or reading.conditions)
    ):
        reading.text.use(match.places, "figure")
        return _share_of_sum(reading, measured(reading, item))
    if measured_conditions:
        return _share_of_rows(reading, match.places[0])
    if reading.keys:
        return group_shares(reading)
    column = reading.text.find("each|every? C=column")
    key_item = reading.text.item(column, "column") if column else None
    if (
        column is not None
        and key_item is not None
        and not any(is_measurable(m.column) for m in key_item.columns)
    ):
        reading.text.use(column.places, "figure")
        reading.keys.append(make_value(reading.column(key_item)))
        return group_shares(reading)
    raise NotUnderstood("It does not say of what the share is.")


def _part_of_whole(reading: QuestionReading, total: QuestionItem | None) -> Plan | None:
    """`what percentage of calories comes from fat`: one column in another, summed over the rows."""
    if total is None or not any(is_measurable(m.column) for m in total.columns):
        return None
    match = reading.text.find("from|in|as|is|was|are|on|to C=part")
    part = reading.text.item(match, "part") if match else None
    if match is None or part is None or part is total or not any(is_measurable(m.column) for m in part.columns):
        return None
    reading.text.use(match.places, "figure")
    while place := reading.text.find("C"):
        reading.text.use(place.places, "figure")
    first, second = measured(reading, part), measured(reading, total)
    if first.label == second.label:
        raise NotUnderstood("The share of a column in itself is asked for.")
    return plan_ratio(reading, first, second, "share")


def plan_ratio(reading: QuestionReading, first: Value, second: Value, label: str, scale: float = 1.0) -> Plan:
    """The sum of one column by the sum of another, over rows with both."""
    both = [build.is_present(value.expression) for value in (first, second)]
    draft = start_plan(reading, [first, second])
    for condition in both:
        draft.keep(condition)
    top, bottom = Figure("sum", first), Figure("sum", second)
    names = [draft.name_of(key) for key in reading.keys]
    orders = draft.group(reading.keys, [top, bottom])
    ratio = build.arithmetic("/", build.column(top.name), build.column(bottom.name))
    if scale != 1.0:
        ratio = build.arithmetic("*", ratio, build.literal(scale))
    draft.steps.append(build.derive(label, ratio))
    if names:
        draft.steps.append(build.sort(*((name, False) for name in orders)))
    draft.select([*names, label, top.name, bottom.name])
    reading.note(f"The total of `{first.label}` is divided by the total of `{second.label}`.")
    return draft.plan()


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


def _share_of_sum(reading: QuestionReading, value: Value) -> Plan:
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
    conditions = [c.expression for c in reading.conditions]
    draft = start_plan(reading, [value, *(Value(c, "", "boolean") for c in conditions)], conditions=[])
    where = build.every(conditions)
    part, total = Figure("sum", value, where=where, label=f"{value.label} of these"), Figure("sum", value)
    draft.group([], [part, total])
    draft.steps.append(
        build.derive("share", build.arithmetic("/", build.column(part.name), build.column(total.name)))
    )
    return draft.plan()


def _share_of_rows(reading: QuestionReading, place: int) -> Plan:
    """The share of rows that meet the measured condition, among those that meet the others."""
    among = _among_place(reading)
    conditions = sorted((c for c in reading.conditions if not c.is_compared), key=lambda c: c.place)
    if among is not None and any(c.place < among for c in conditions):
        measured_ = [c for c in conditions if c.place < among]
    elif len(conditions) > 1 and _of_first(reading, place, conditions):
        measured_ = conditions[1:][-1:]
    else:
        measured_ = conditions[-1:] if len(conditions) > 1 and not _follows_comma(reading) else conditions[:1]
    others = [c for c in reading.conditions if c not in measured_]
    tested = build.every([c.expression for c in measured_])
    presence = [
        build.is_present(c.column.expression)
        for c in measured_
        if c.column and c.column.column.missing > 0 and "is_null" not in c.expression.model_dump_json()
    ]
    reading.conditions = others
    figure = Figure("share_true", Value(tested, "condition met", "boolean"), label="share")
    group_compared(reading)
    draft = start_plan(reading, [Value(tested, "", "boolean")])
    for condition in presence:
        draft.keep(condition)
    if reading.keys:
        finish_groups(draft, reading.keys, [figure, Figure("count", label="rows")], take_order(reading))
    else:
        draft.group(
            [],
            [figure, Figure("count", Value(tested, "met", "boolean"), where=tested, label="rows that meet it")],
        )
    if presence:
        reading.note("Rows without a value of the condition count neither way.")
    return draft.plan()


def _among_place(reading: QuestionReading) -> int | None:
    return next(
        (n for n, item in enumerate(reading.text.items) if item.text in ("among", "within", "amongst")), None
    )


def _of_first(reading: QuestionReading, place: int, conditions: list[Condition]) -> bool:
    """Tell if the rows follow the word share (`share of women who survived`)."""
    return place < conditions[0].place


def _follows_comma(reading: QuestionReading) -> bool:
    return any(item.text == "," for item in reading.text.items)
