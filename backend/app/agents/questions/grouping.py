"""Groups that a figure is asked for: columns, parts of dates, classes of numbers, and compared values."""

import re
from collections.abc import Sequence

from app.agents.goals.tables.profiles import Column
from app.agents.goals.tables.units import find_unit, unit_of
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import IDENTIFIER_WORDS, WEEKDAYS
from app.agents.questions.conditions.date_columns import date_reference, part_column
from app.agents.questions.items import QuestionItem
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import QuestionReading, Value, is_measurable, make_value
from app.agents.questions.tables.derived_columns import holds_days_only
from app.agents.questions.tables.scope import Reference, TableLink
from app.plans import build
from app.plans.describe import describe_expression
from app.plans.expressions import Expression

MAX_NUMBER_GROUPS = 40
"""Distinct values of a number by which rows are grouped."""
MAX_RATIO_GROUPS = 12
"""The same after "per", which may also ask for a ratio."""
_BY = "by|per|each|every|across"
_GROUPING = (
    "grouped|split|broken|group|sorted|ordered down? by U? C+=column",
    "for|in|of|at|on|within each|every U? C+=column",
    f"{_BY} U? C+=column",
    "for|in|of|at|within different|various|all C+=column",
)
_PERIOD_UNITS = {
    "day": "day",
    "days": "day",
    "daily": "day",
    "date": "day",
    "dates": "day",
    "week": "week",
    "weeks": "week",
    "weekly": "week",
    "month": "month",
    "months": "month",
    "monthly": "month",
    "quarter": "quarter",
    "quarters": "quarter",
    "quarterly": "quarter",
    "year": "year",
    "years": "year",
    "yearly": "year",
    "annual": "year",
    "annually": "year",
    "hour": "hour",
    "hours": "hour",
    "hourly": "hour",
    "weekday": "weekday",
    "weekdays": "weekday",
}


def parse_groups(reading: QuestionReading) -> None:
    """Parse the groups of a question, and turn values that are compared into groups."""
    # Phrases of fixed words come before single periods and columns, which would take a part of them.
    parse_weekends(reading)
    parse_alternatives(reading)
    parse_bins(reading)
    _parse_periods(reading)
    _parse_columns(reading)


def parse_weekends(reading: QuestionReading) -> None:
    """Parse days of the week that are set against weekends."""
    match = reading.text.find(
        "on|at? weekend|weekends|weekdays|weekday vs|versus|and|against|or|than|to|with|compared"
        " to|with? on|at? weekday|weekdays|weekend|weekends"
    )
    reference = date_reference(reading, match) if match else None
    if match is None or reference is None:
        return
    weekend = build.compare(">=", build.date_part("weekday", reference.expression), build.literal(6))
    reading.text.use(match.places, "group")
    reading.keys.append(Value(weekend, "weekend", "boolean"))


_CLASS = "range|ranges|group|groups|band|bands|bracket|brackets|class|classes|bin|bins|bucket|buckets"
_STEPS = "steps|bins|intervals|classes|buckets|bands|groups|brackets|ranges"
_BINS = (
    f"{_BY}|in|for? C=column {_CLASS}? ,? in|with|using|of? {_STEPS} of N=width @unit?",
    f"{_BY}|in|for? C=column {_CLASS}? ,? in|into|by N=width @unit? {_STEPS}",
    f"{_BY} C=column {_CLASS} of N=width @unit?",
    f"{_BY}|in N=width @unit? C=column {_STEPS}",
    f"C=column {_CLASS} of N=width @unit?",
    f"C=column in|into N=width @unit? {_STEPS}",
)
"""Phrases of classes of a number that are equally wide."""


def parse_bins(reading: QuestionReading) -> None:
    """Parse classes of a number: `in steps of 250`."""
    for phrase in _BINS:
        match = reading.text.find(phrase)
        item, width = (
            (reading.text.item(match, "column"), reading.text.item(match, "width")) if match else (None, None)
        )
        if match is None or item is None or width is None or not width.number:
            continue
        reference = reading.column(item, True)
        reading.text.use([*match.places, *_told_again(reading, match, reference)], "group")
        number = build.literal(int(width.number) if width.number == int(width.number) else width.number)
        lower = build.arithmetic(
            "*", build.call("floor", build.arithmetic("/", reference.expression, number)), number
        )
        reading.keys.append(Value(lower, f"{reference.column.name} from", "number", reference))


def _told_again(reading: QuestionReading, match: PhraseMatch, reference: Reference) -> list[int]:
    """The places of the unit behind the width of classes, and of `in each` at the end of the question."""
    items, place = reading.text.items, match.places[-1] + 1
    unit = find_unit(items[place].word) if place < len(items) else None
    places = [place] if unit is not None and unit == unit_of(reference.column) else []
    groups = reading.text.find("in|for|of each", place)
    return [*places, *(groups.places if groups and groups.places[-1] == len(items) - 1 else [])]


def _parse_periods(reading: QuestionReading) -> None:
    """Parse `per month`, `by weekday`, `by hour of the day`, `monthly`."""
    for phrase in (
        "by|per|each|every|over|at|in|for|of day of? week=weekday",
        "by|per|each|every|over|at|in|for|of the? each? hour of? day?",
        "end of each|every @period=period",
        "by|per|each|every|across|over @period=period and|, @period|C=second",
        "by|per|each|every|across @period=period",
        "for|in|on|of each|every @period=period",
        "from one month|year|quarter=period to next",
        "month|year|quarter|week=period over|by|on month|year|quarter|week",
        "over|by the months|years|quarters|weeks=period",
        "daily|weekly|monthly|quarterly|yearly|annual|hourly|annually=period",
    ):
        match = reading.text.find(phrase)
        if match is None:
            continue
        item = reading.text.item(match, "period")
        unit = (
            _PERIOD_UNITS.get(item.word, "") if item else ("weekday" if match.names.get("weekday") else "hour")
        )
        if item is not None and _is_column_name(item):
            continue
        value = period_value(reading, unit, match)
        second = reading.text.item(match, "second")
        if value is None or (second is not None and second.word in _PERIOD_UNITS):
            continue
        places = [p for p in match.places if second is None or reading.text.items[p] is not second]
        reading.text.use(places, "group")
        reading.keys.append(value)
        if second is not None:
            _add_columns(reading, [second])


def _is_column_name(item: QuestionItem) -> bool:
    return bool(item.columns) and item.columns[0].coverage >= 1 and item.columns[0].score >= 0.9


def period_value(reading: QuestionReading, unit: str, match: PhraseMatch | None = None) -> Value | None:
    """The period of the meant date, or a column that holds such periods."""
    if unit in ("year", "month", "day", "hour", "weekday", "quarter", "week") and (
        column := part_column(reading, unit)
    ):
        return make_value(column)
    if unit == "decade" and (years := part_column(reading, "year")):
        return _decade(years.expression, years)
    reference = date_reference(reading, match)
    if reference is None:
        mentioned = next(
            (
                Reference(t.name, c)
                for t in reading.scope.tables
                for c in t.columns
                if c.name.casefold() == unit
            ),
            None,
        )
        return make_value(mentioned) if mentioned else None
    # A day has no hours: all rows would be of midnight.
    return None if unit == "hour" and holds_days_only(reference.column) else make_period(reference, unit)


def make_period(reference: Reference, unit: str) -> Value:
    date = reference.expression
    if unit == "weekday":
        number = build.date_part("weekday", date)
        names: list[tuple[Expression, Expression]] = [
            (build.compare("=", number, build.literal(n)), build.literal(name.capitalize()))
            for n, name in enumerate(WEEKDAYS, 1)
        ]
        # Names of weekdays sort by the alphabet: the groups are sorted by the number behind.
        return Value(build.case(names, None), "weekday", "text", order=number)
    if unit in ("year", "hour"):
        return Value(build.date_part(unit, date), unit, "integer")  # type: ignore[arg-type]
    if unit == "decade":
        return _decade(build.date_part("year", date), reference)
    if unit == "half year":
        year = build.cast_to("text", build.date_part("year", date))
        is_second = build.compare(">", build.date_part("month", date), build.literal(6))
        half = build.case([(is_second, build.literal("H2"))], build.literal("H1"))
        return Value(build.call("concat", year, build.literal("-"), half), "half year", "text")
    if unit == "quarter":
        year = build.cast_to("text", build.date_part("year", date))
        quarter = build.cast_to("text", build.date_part("quarter", date))
        return Value(build.call("concat", year, build.literal("Q"), quarter), "quarter", "text")
    return Value(build.date_trunc(unit, date), unit, "datetime")  # type: ignore[arg-type]


def _decade(year: Expression, reference: Reference) -> Value:
    ten = build.literal(10)
    first = build.arithmetic("*", build.call("floor", build.arithmetic("/", year, ten)), ten)
    return Value(build.cast_to("integer", first), "decade", "integer", reference)


def _parse_columns(reading: QuestionReading) -> None:
    for phrase in _GROUPING:
        start = 0
        while match := reading.text.find(phrase, start):
            start = match.places[0] + 1
            items = reading.text.list_items(match, "column")
            # A noun of rows means the rows before a column of the same name: `orders per customer`.
            if items and (handled := _rows_as_groups(reading, items[0], match)):
                reading.text.use(match.places, "group")
                reading.keys += handled
                continue
            if not items or not _can_group(reading, items[0], match):
                continue
            grouping_items = [item for n, item in enumerate(items) if n == 0 or _groups_alone(item)]
            if len(grouping_items) < len(items):
                last = match.names["column"][len(grouping_items) - 1]
                match.places = [place for place in match.places if place <= last]
            reading.text.use(match.places, "group")
            _add_columns(reading, grouping_items)


def _rows_as_groups(reading: QuestionReading, item: QuestionItem, match: PhraseMatch) -> list[Value]:
    """The name of the rows of another table as a group (`orders per customer`)."""
    if not item.row_tables or reading.text.items[match.places[0]].text in ("sorted", "ordered"):
        return []
    single = reading.scope.table(item.row_tables[0])
    if item.columns and item.columns[0].score >= 0.94 and not item.columns[0].column.unique:
        return []
    links = [link for link in reading.scope.links if link.single == single.name]
    if not links:
        return []
    reference = owner_reference(reading, links[0])
    return [make_value(reference)] if reference else []


def _groups_alone(item: QuestionItem) -> bool:
    return not is_measurable(item.columns[0].column) or item.columns[0].column.distinct <= MAX_NUMBER_GROUPS


def _can_group(reading: QuestionReading, item: QuestionItem, match: PhraseMatch) -> bool:
    best = item.columns[0]
    before = match.places[0] - 1
    # `fare per class` may divide by a number or group by it, so that `per` needs fewer different numbers than
    # `by`.
    is_ratio = (
        reading.text.items[match.places[0]].text == "per"
        and before >= 0
        and bool(reading.text.items[before].columns)
        and any(is_measurable(m.column) for m in reading.text.items[before].columns)
    )
    is_class = best.column.type == "integer" and best.column.distinct <= (
        MAX_NUMBER_GROUPS if not is_ratio else MAX_RATIO_GROUPS
    )
    if is_measurable(best.column) and not is_class:
        return False
    # In `top 5 by age` the number is what ranks, and no group.
    if is_measurable(best.column) and reading.text.has("top|bottom|best|worst|highest|lowest|largest N"):
        return False
    # A group for each time or each unique value holds one row: the noun means the rows.
    if item.row_tables and (best.column.type == "datetime" or best.column.unique):
        return False
    first = reading.text.items[match.places[0]].text
    return first not in ("sorted", "ordered") or not is_measurable(best.column)


def _add_columns(reading: QuestionReading, items: list[QuestionItem]) -> None:
    for item in items:
        reference = reading.column(item)
        if reference.column.type == "datetime" and not reference.column.is_stored_as_text:
            # Times with seconds would make a group of nearly every row.
            reading.keys.append(make_period(reference, "day"))
            continue
        reading.keys.append(make_value(display_reference(reading, reference)))


def display_reference(reading: QuestionReading, reference: Reference) -> Reference:
    """The name behind a key of another table: of `station_id` the column `station` of `stations`."""
    for link in reading.scope.links:
        if (link.many, link.foreign_key) == (reference.table, reference.column.name):
            single = reading.scope.table(link.single)
            return (
                Reference(single.name, name) if (name := name_column(single.columns, link.key)) else reference
            )
        if (link.single, link.key) == (reference.table, reference.column.name):
            single = reading.scope.table(link.single)
            return (
                Reference(single.name, name) if (name := name_column(single.columns, link.key)) else reference
            )
    return reference


def owner_reference(reading: QuestionReading, link: TableLink) -> Reference | None:
    """The column that shows to which row of another table rows belong: its name, else its key."""
    single = reading.scope.table(link.single)
    if name := name_column(single.columns, link.key):
        return Reference(single.name, name)
    key = single.column(link.key)
    if key is not None and _is_name(key) and (own := reading.scope.table(link.many).column(link.foreign_key)):
        return Reference(link.many, own)  # the same words, without a join
    return Reference(single.name, key) if key else None


def name_column(columns: Sequence[Column], key: str) -> Column | None:
    """The unique text that names the rows of a table, apart from their key; None where the key is a name."""
    own = next((column for column in columns if column.name == key), None)
    if own is not None and _is_name(own):
        return None
    mentioned = [c for c in columns if c.unique and c.type == "text" and c.name != key and c.missing == 0]
    return mentioned[0] if mentioned else None


def _is_name(column: Column) -> bool:
    """Test for values that are words: a `ward` Cardiology says which ward it is, a `customer` C0001 does not.

    Whoever says `by ward` means these words, and not the head of each ward.
    """
    texts = [str(value) for value in column.values or column.examples]
    is_text = column.type == "text" and not IDENTIFIER_WORDS & set(words(column.name))
    return is_text and bool(texts) and all(_WORD.search(text) and not _DIGIT.search(text) for text in texts)


_WORD = re.compile(r"[^\W\d_][a-zß-öø-ÿ]{2}")
"""Three letters of which the last are small: abbreviations and codes in capitals are no names."""
_DIGIT = re.compile(r"\d")


def group_compared(reading: QuestionReading) -> None:
    """Make the values that the question sets against each other its groups."""
    for condition in reading.conditions:
        if condition.is_compared and condition.column and condition.column.table:
            # A date without groups of its own bounds the rows: each of its moments would be a group.
            if condition.is_date and condition.group is None:
                continue
            key = condition.group or make_value(condition.column)
            if key.label not in [k.label for k in reading.keys]:
                reading.keys.append(key)


_OTHERS = (
    "than on|in|at|for|with? other|others|remaining E?",
    "and|vs|versus|than for|on|in? rest|others|other|remaining E?",
    "others|rest|remaining E?",
)


def group_by_condition(reading: QuestionReading) -> None:
    """Make a condition a group of its own where the question sets its rows against the others."""
    conditions = [c for c in reading.conditions if not c.is_compared]
    # Of two conditions it is not told which one the others lack.
    if len(conditions) != 1 or not reading.text.take_any(_OTHERS, "group"):
        return
    condition = conditions[0]
    reading.conditions.remove(condition)
    reading.keys.append(
        Value(condition.expression, describe_expression(condition.expression).replace("\x1f", "."), "boolean")
    )


def parse_alternatives(reading: QuestionReading) -> None:
    """Parse `with and without a technician`, `whether they smoke or not`."""
    for phrase in (
        "with and|or|vs|versus without C=column",
        "without and|or|vs|versus with C=column",
        "with|whether C=column and|or|vs|versus without|not",
    ):
        match = reading.text.find(phrase)
        item = reading.text.item(match, "column") if match else None
        if match is None or item is None:
            continue
        reference = reading.column(item)
        reading.text.use(match.places, "group")
        if 2 <= reference.column.distinct <= MAX_RATIO_GROUPS:
            reading.keys.append(make_value(reference))
        else:
            reading.keys.append(
                Value(build.is_present(reference.expression), f"with {reference.column.name}", "boolean")
            )
