"""Returns of a price from one day of the data to the next: `daily returns of wheat`."""

from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.tokenizer import words
from app.agents.questions.conditions.date_columns import date_reference
from app.agents.questions.conditions.rule_order import parse_conditions
from app.agents.questions.question_reading import QuestionReading, Value, is_measurable, make_value
from app.agents.questions.rows_plan import start_plan
from app.agents.questions.tables.scope import Reference
from app.plans import build
from app.plans.plan import Plan

_PRICES = ("adj", "adjusted", "close", "price", "last", "nav", "quote", "rate")
"""Words of names of prices, the likelier first: an adjusted price has no jumps of dividends."""


def daily_returns(reading: QuestionReading) -> Plan | None:
    """The price of each day over that of the day before in the data, less 1, for each thing that has prices."""
    match = reading.text.find("daily|day return|returns of|for|on|in? C?=column")
    reference = date_reference(reading)
    if match is None or reference is None:
        return None
    columns = reading.scope.stored_columns(reference.table)
    if any("return" in words(column.name) or "returns" in words(column.name) for column in columns):
        return None
    item = reading.text.item(match, "column")
    measures = [m.column for m in item.columns if is_measurable(m.column)] if item else []
    price = measures[0] if measures else _price_of(columns)
    keys = [column for column in columns if column.type == "text" and not column.unique]
    # Of several texts none says whose prices follow on each other.
    if price is None or (not reference.column.unique and len(keys) != 1):
        return None
    is_own = item is not None and bool(measures)
    reading.text.use(match.places if is_own or item is None else match.places[:2], "figure")
    parse_conditions(reading)
    within = [] if reference.column.unique else [make_value(Reference(reference.table, keys[0]))]
    return _plan(reading, make_value(Reference(reference.table, price)), reference, within)


def _price_of(columns: list[Column]) -> Column | None:
    for word in _PRICES:
        candidates = [column for column in columns if is_measurable(column) and word in words(column.name)]
        if candidates:
            return candidates[0] if len(candidates) == 1 else None
    return None


def _plan(reading: QuestionReading, price: Value, reference: Reference, within: list[Value]) -> Plan:
    conditions = [condition.expression for condition in reading.conditions]
    day = Value(reference.expression, "", "datetime")
    draft = start_plan(reading, [price, day, *within], conditions=[])
    measure, date = draft.name_of(price), draft.source.names[reference.name]
    names = [draft.name_of(value) for value in within]
    before = build.window("before", "lag", measure, within=names, order=[(date, False)])
    draft.steps.append(before)
    relative = build.arithmetic("/", build.column(measure), build.column("before"))
    draft.steps.append(build.derive("daily return", build.arithmetic("-", relative, build.literal(1))))
    # The day before the first shown one belongs to its return, so that conditions come behind the window.
    for condition in conditions:
        draft.keep(condition)
    draft.keep(build.is_present(build.column("daily return")))
    draft.steps.append(build.sort((date, False), *((name, False) for name in names)))
    draft.select([date, *names, measure, "daily return"])
    reading.note(f"A daily return is `{measure}` over that of the day before in the data, less 1.")
    return draft.plan()
