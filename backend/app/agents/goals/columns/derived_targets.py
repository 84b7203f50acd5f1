"""Columns that a goal may have as its target although no table stores them, beside those that are stored.

"How long does a permit take?" asks for the time between two dates, "will it be sold at all" for whether a date
is there, "revenue" of a table of quantities and prices for their product. Such columns are offered where the
goal asks for their kind of value; which column is meant is then ranked among all (`column_ranking`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations, product

from app.agents.goals.clauses import Part, goal_words
from app.agents.goals.columns.outright_names import asks_for_duration, is_of_other_activity
from app.agents.goals.columns.spelled_operations import find_operation, has_one_operand
from app.agents.goals.goal import Goal
from app.agents.goals.periods.vocabulary import COUNT
from app.agents.goals.tables.column_formula import Derivation, DerivationKind, ElapsedUnit
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.quantities import asked_quantities, stored_quantities
from app.agents.goals.tables.units import find_unit
from app.agents.goals.words.abbreviations import unabbreviate
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set

MAX_DATES = 5
"""Date columns of which pairs are made: a table with more has a name for what it measures."""
MIN_MISSING = 0.02
"""Share of missing values from which whether a value is there is worth predicting."""

_STARTS = word_set(
    """
    start started begin began open opened create created hired hire joined join admission admitted admit checkin
    departure departed order ordered placed pickup issued issue signup entered borrowed borrow rented out
    received submitted reported report launched listed list applied application apply filed requested request
    invoice booked planted sow sown registered enrolled enrolment arrival call called
    """
)
_ENDS = word_set(
    """
    end ended finish finished close closed left leave resolved returned return restarted delivered delivery
    discharge discharged checkout arrived complete completed cancelled canceled solved dropoff shipped
    ship paid payment exit back answered sold settled approved granted issued decision harvested harvest release
    released died death repaired fixed
    """
)
_PLANNED = word_set(
    "due planned plan scheduled schedule sched expected exp eta etd promised deadline target std sta agreed"
)
_LATE = re.compile(
    r"\b(?:late(?:ness|r)?|delay(?:s|ed)?|overdue|on time|in time|behind schedule|punctual(?:ity|ly)?|past due"
    r"|after (?:the|its|their) (?:[a-z]{1,12} )?(?:day|date|time)|deadline)\b",
    re.IGNORECASE,
)
_AMOUNT_OF_TIME = re.compile(r"\bhow (?:late|long|many|much)\b|\b(?:days|hours|minutes)\b", re.IGNORECASE)
_HAPPENS = re.compile(
    r"\b(?:will|would|whether|if|does|do|did)\b.{0,60}\b(?:at all|ever|get|gets|be|been|come|comes)\b",
    re.IGNORECASE,
)
_AT_ALL = re.compile(r"\b(?:at all|ever)\b", re.IGNORECASE)
_AGES = word_set("age ages aged")
_NUMBER = re.compile(r"\d{1,9}")
_PRICES = word_set("price rate fee unitprice fare pr")
_QUANTITIES = word_set(
    "quantity qty units unit count seats pieces items number nights copies tickets weight wt kg amount"
)
_REVENUE = re.compile(
    r"\b(?:revenues?|turnover|turn over|sales|sell|takings|income|earn(?:s|ings)?|brings? in|spend(?:s|ing)?"
    r"|(?:basket|order|cart|bill|sale|landing|total)s?'? (?:value|worth|amount)|values?|worth)\b",
    re.IGNORECASE,
)
_MONEY_TOTALS = word_set(
    "revenue sales total amount turnover income subtotal value spend spent takings gross net worth bill"
)


def with_derived_columns(goal: Goal, tables: Sequence[TableProfile]) -> list[TableProfile]:
    """Return the tables with the columns that the goal could mean although nothing stores them."""
    return [_extend(goal, table) for table in tables]


def _extend(goal: Goal, table: TableProfile) -> TableProfile:
    stored = {column.name.casefold() for column in table.columns}
    derived = [column for column in _derived_columns(goal, table) if column.name.casefold() not in stored]
    unique = list({column.name: column for column in derived}.values())
    if not unique:
        return table
    # Not at an end: there, columns that people predict are stored, and the ranking knows it.
    middle = (len(table.columns) + 1) // 2
    return replace(table, columns=(*table.columns[:middle], *unique, *table.columns[middle:]))


def explicit_target(goal: Goal, tables: Sequence[TableProfile]) -> tuple[TableProfile, Column] | None:
    """Return the target that a goal spells out by an operation: "weight times price", "spend per head"."""
    for table in tables:
        # "Will it be sold at all" asks whether, and not when.
        if _AT_ALL.search(goal.text) and (flags := [*_presences(goal, _dates(table))]):
            return table, flags[0]
        numbers = _numbers(table)
        if derivation := find_operation(goal, table, numbers):
            return table, _make_number(derivation, numbers)
    return None


def is_half_read(goal: Goal, table: TableProfile) -> bool:
    """Test if a goal spells out an operation of which only one side is a number of the table."""
    return has_one_operand(goal, _numbers(table))


def with_measures(goal: Goal, table: TableProfile) -> TableProfile:
    """Return the table with the number that a forecast could measure although no column holds it."""
    if explicit := explicit_target(goal, [table]):
        columns = [explicit[1]] if explicit[1].is_number else []
    else:
        is_money = _REVENUE.search(goal.text) and not COUNT.search(goal.text)  # "how many will we sell"
        columns = [*_products(_numbers(table))] if is_money and not _sells_pieces(goal, table) else []
    return replace(table, columns=(*table.columns, *columns)) if columns else table


def _sells_pieces(goal: Goal, table: TableProfile) -> bool:
    """Test if the head of a goal that speaks of a sale is a number of what is sold: "tickets we will sell"."""
    phrase = (word for word in goal_words(goal.target_text) if word.part in (Part.HEAD, Part.MODIFIER))
    heads = {stem(word.word) for word in phrase} - _SALES
    counts = (column for column in _numbers(table) if column.type == "integer")
    return any(_SALES & {*stems(column.name)} and heads & {*stems(column.name)} for column in counts)


_SALES = frozenset(stems("sale sales sell sold"))
"""Stems of words for a sale, in goals and in names of columns: `tickets_sold`."""


def _derived_columns(goal: Goal, table: TableProfile) -> Iterator[Column]:
    dates = _dates(table)
    numbers = _numbers(table)
    quantities = asked_quantities(goal.text)
    threshold_unit = find_unit(goal.threshold.unit or "") if goal.threshold else None
    is_about_time = (
        "time" in quantities
        or asks_for_duration(goal.text)
        or (threshold_unit is not None and threshold_unit.dimension == "time")
    )
    if (is_about_time and not _has_flag_of_bound(goal, table)) or _LATE.search(goal.text):
        yield from _times(goal, dates, numbers)
    yield from _presences(goal, dates)
    if _REVENUE.search(goal.text):
        yield from _products(numbers)


def _has_flag_of_bound(goal: Goal, table: TableProfile) -> bool:
    """Test for a flag whose name holds the bound of the goal: `readmitted_30d` for "back within 30 days"."""
    if goal.threshold is None:
        return False
    bound = f"{goal.threshold.value:g}"
    flags = (column.name for column in table.columns if column.distinct == 2)
    return any(bound in _NUMBER.findall(name) for name in flags)


def _numbers(table: TableProfile) -> list[Column]:
    return [c for c in table.columns if c.is_number and not c.is_stored_as_text and c.hint != "id"]


def _dates(table: TableProfile) -> list[Column]:
    """Return dates that SQL can compare: those that are stored as text would have to be parsed first."""
    dates = [column for column in table.dates if column.type == "datetime" and not column.is_stored_as_text]
    return dates[:MAX_DATES]


def _times(goal: Goal, dates: Sequence[Column], numbers: Sequence[Column]) -> Iterator[Column]:
    """Yield times between dates, and lateness against a planned date."""
    planned = [column for column in dates if _PLANNED & set(words(column.name))]
    real = [column for column in dates if column not in planned]
    if _LATE.search(goal.text):
        ends = [column for column in real if not _STARTS & set(words(column.name))] or real[-1:]
        wants_amount = goal.kind == "regression" or bool(_AMOUNT_OF_TIME.search(goal.text))
        for due, column in product(planned, ends):
            if wants_amount:
                yield _make_elapsed(goal, due, column, "delay")
            else:
                yield _make_flag(Derivation(kind="later", first=column.name, second=due.name), column, due)
    durations = [column for column in numbers if _is_duration(column)]
    if any(not is_of_other_activity(goal.text, column.name) for column in durations):
        return  # a column of durations is what such a goal asks for
    pairs = [_in_order(first, second) for first, second in combinations(real, 2)]
    for start, end in (pair for pair in pairs if pair):
        yield _make_elapsed(goal, start, end)


def _is_duration(column: Column) -> bool:
    """Test for a column of durations. Ages are times too, and no answer to how long something takes."""
    return column.distinct > 2 and "time" in stored_quantities(column) and not _AGES & set(words(column.name))


def _in_order(first: Column, second: Column) -> tuple[Column, Column] | None:
    """Return two dates with the earlier event first; None if neither names nor values tell."""
    for start, end in ((first, second), (second, first)):
        start_words, end_words = set(words(start.name)), set(words(end.name))
        if _STARTS & start_words and _ENDS & end_words and not _STARTS & end_words:
            return start, end
    bounds = [(_moment(column.low), _moment(column.high)) for column in (first, second)]
    (low, high), (other_low, other_high) = bounds
    if low is None or high is None or other_low is None or other_high is None:
        return None
    if low <= other_low and high <= other_high and (low, high) != (other_low, other_high):
        return first, second
    if other_low <= low and other_high <= high and (low, high) != (other_low, other_high):
        return second, first
    return None


def _moment(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value)).replace(tzinfo=None)
    except ValueError:
        return None


def _make_elapsed(goal: Goal, start: Column, end: Column, kind: DerivationKind = "elapsed") -> Column:
    unit = _elapsed_unit(goal, start, end)
    derivation = Derivation(kind=kind, first=end.name, second=start.name, unit=unit)
    return Column(
        derivation.name,
        "number",
        "numeric",
        distinct=max(3, min(start.distinct, end.distinct)),
        missing=max(start.missing, end.missing),
        unit=unit,
        derivation=derivation,
    )


def _elapsed_unit(goal: Goal, start: Column, end: Column) -> ElapsedUnit:
    goal_words = set(words(goal.text))
    for unit in ("minutes", "hours", "days"):
        if {unit, unit[:-1]} & goal_words:
            return unit
    moments = [_moment(value) for column in (start, end) for value in (column.low, column.high)]
    has_days_only = all(moment is None or moment.hour == moment.minute == 0 for moment in moments)
    return "days" if has_days_only else "hours"


def _make_flag(derivation: Derivation, *sources: Column) -> Column:
    missing = 0.0 if derivation.kind == "present" else max(column.missing for column in sources)
    return Column(
        derivation.name,
        "text",
        "category",
        distinct=2,
        missing=missing,
        top=("yes", "no"),
        values=("yes", "no"),
        derivation=derivation,
    )


def _presences(goal: Goal, dates: Sequence[Column]) -> Iterator[Column]:
    """Yield whether dates of events are there, for a goal that asks if the event happens."""
    # "Will it be sold within a week" asks how soon, and not whether.
    if not _HAPPENS.search(goal.text) or goal.threshold:
        return
    goal_stems = set(stems(goal.target_text))
    for column in dates:
        if column.missing >= MIN_MISSING and goal_stems & set(stems(column.name)):
            yield _make_flag(Derivation(kind="present", first=column.name), column)


def event_flag(goal: Goal, column: Column) -> Column | None:
    """Return whether a column has a value, for a goal that asks if the event happens which it says more of.

    A code of a fault, the reason of a return and the date of a resignation are there where something happened.
    None if the goal asks for the code or the reason itself or names one of the values, if the name says nothing
    but the event (`priority`), or if most rows have a value.
    """
    says_more = column.hint in ("category", "text", "id") or column.type == "datetime"
    if column.missing < MIN_EVENTLESS or not says_more or column.derivation is not None:
        return None
    name, goal_stems = {*stems(column.name)}, {*stems(goal.text)}
    details, events = name & _DETAILS, name - _DETAILS
    if not (details or column.type == "datetime") or _names_value(column, goal_stems):
        return None
    asks_for_detail = bool(details & goal_stems) or _WHICH_KIND.search(goal.text) is not None
    if asks_for_detail or not (events & goal_stems and _ASKS_WHETHER.search(goal.text)):
        return None
    return _make_flag(Derivation(kind="present", first=column.name), column)


def _names_value(column: Column, goal_stems: set[str]) -> bool:
    own_stems = (set(stems(str(value))) for value in (*column.values, *column.top))
    return any(value and value <= goal_stems for value in own_stems)


MIN_EVENTLESS = 0.3
"""Share of rows without a value from which a column says more of an event that most rows do not have."""
_DETAILS = frozenset(
    stems("code reason type kind cause category description desc cd dt date time at on note comment")
)
"""Stems of parts of names that say what is told of an event."""
_ASKS_WHETHER = re.compile(
    r"\b(?:will|would|whether|if|likely|likelihood|chances?|risk|probability|going to)\b",
    re.IGNORECASE,
)
_WHICH_KIND = re.compile(
    r"\b(?:why|(?:what|which) (?:kind|type|sort|of the)|kinds? of|types? of)\b", re.IGNORECASE
)


def _products(numbers: Sequence[Column]) -> Iterator[Column]:
    """Yield quantity times price, where no column holds an amount of money of the whole row."""
    # `unit_px` is a price, too.
    own_words = {
        column.name: {form for word in words(column.name) for form in (word, unabbreviate(word))}
        for column in numbers
    }
    prices = [c for c in numbers if _PRICES & own_words[c.name] or _is_price_of_unit(c)]
    money = [c for c in numbers if "money" in stored_quantities(c) and c not in prices]
    if any(_MONEY_TOTALS & own_words[column.name] for column in money):
        return
    quantities = [c for c in numbers if _QUANTITIES & own_words[c.name] and c not in prices and c not in money]
    if len(prices) == 1 and len(quantities) == 1:
        first, second = quantities[0].name, prices[0].name
        yield _make_number(Derivation(kind="product", first=first, second=second, is_revenue=True), numbers)


def _is_price_of_unit(column: Column) -> bool:
    """Test for a price of a unit by its name, such as `eur_per_kg`."""
    return "per" in words(column.name) and "money" in stored_quantities(column)


def _make_number(derivation: Derivation, numbers: Sequence[Column]) -> Column:
    sources = [column for column in numbers if column.name in (derivation.first, derivation.second)]
    return Column(
        derivation.name,
        "number",
        "numeric",
        distinct=max(column.distinct for column in sources),
        missing=max(column.missing for column in sources),
        derivation=derivation,
    )
