"""Columns that a table implies: times between two dates, ages, products of price and quantity, differences."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.units import unit_of
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.matching.column_matching import name_parts
from app.agents.questions.tables.ages import ages_of, tenures_of
from app.agents.questions.tables.differences import differences_of
from app.plans import build
from app.plans.expressions import Expression

_STARTS = word_set(
    """
    start started begin began open opened created hired joined stopped admission admitted checkin
    departure departed ordered order placed pickup issued signup entered borrowed rented out from
    received submitted reported launched
    """
)
_ENDS = word_set(
    """
    end ended finish finished closed left resolved returned restarted delivered discharge discharged
    checkout arrival arrived completed cancelled canceled solved dropoff shipped paid exit until to due
    back answered
    """
)
_ENDS_OF_WAY = word_set("arrival departure arrived departed arrives departs")
_SECONDS = {
    "second": 1,
    "minute": 60,
    "hour": 3_600,
    "day": 86_400,
    "week": 604_800,
    "month": 2_629_800,
    "year": 31_557_600,
}
"""Seconds of a unit; of month and year the Julian mean (365.25 days)."""
PRICES = frozenset(["price", "rate", "fee", "unitprice"])
QUANTITIES = word_set(
    """
    quantity qty units count seats pieces items number nights copies tickets sold
    """
)
REVENUES = frozenset(["revenue", "sales", "total", "amount", "turnover", "income", "subtotal"])
_DURATIONS = frozenset(
    ["duration", "minutes", "hours", "length", "lasted", "elapsed", "tenure", "seconds", "days"]
)

DerivedColumns = dict[tuple[str, str], Expression]
"""Expressions by table and name; columns in them have their plain names."""


def derive_columns(
    tables: Sequence[TableProfile], question_words: frozenset[str]
) -> tuple[list[TableProfile], DerivedColumns]:
    """Add implied columns to the profiles, for what no stored column holds."""
    derived: DerivedColumns = {}
    profiles = []
    for table in tables:
        added = [
            *_durations(table, question_words),
            *_products(table, question_words),
            *differences_of(table, question_words),
            *ages_of(table, tables, question_words),
            *tenures_of(table, tables, question_words),
        ]
        derived |= {(table.name, column.name): expression for column, expression in added}
        profiles.append(replace(table, columns=(*table.columns, *(column for column, _ in added))))
    return profiles, derived


def _durations(table: TableProfile, question_words: frozenset[str]) -> Iterator[tuple[Column, Expression]]:
    # A stored duration counts before one of dates, from which it may differ, such as by breaks.
    if any(column.is_number and is_duration(column) for column in table.columns):
        return
    pair = _span(table, question_words)
    if pair is None:
        return
    start, end = pair
    unit = next(
        (unit for unit in _SECONDS if stem(unit) in question_words), "day" if has_days_only(start) else "hour"
    )
    expression = _elapsed(start, end, unit)
    missing = max(start.missing, end.missing, 0.001)
    yield Column(f"duration {unit}s", "number", "numeric", distinct=table.rows, missing=missing), expression


def _elapsed(start: Column, end: Column, unit: str) -> Expression:
    """The time between two dates in a unit of `_SECONDS`."""
    if has_days_only(start):
        between, per_unit = "days_between", _SECONDS[unit] / _SECONDS["day"]
    else:
        between, per_unit = "seconds_between", float(_SECONDS[unit])
    elapsed = build.call(between, build.column(start.name), build.column(end.name))
    return elapsed if per_unit == 1 else build.arithmetic("/", elapsed, build.literal(float(per_unit)))


def is_duration(column: Column) -> bool:
    """Tell if a number is how long something takes: the `length` of boats in metres is not."""
    unit = unit_of(column)
    is_way = unit is not None and unit.dimension == "length"
    return bool(_DURATIONS & set(name_parts(column.name))) and not is_way


def has_span(table: TableProfile) -> bool:
    """Tell if rows have a time between two dates that no column stores."""
    has_duration = any(column.is_number and is_duration(column) for column in table.columns)
    return not has_duration and _span(table, _SPAN_WORDS) is not None


_SPAN_WORDS = frozenset(
    map(
        stem,
        ("long", "duration", "take", "took", "time", "between", "until", "lag", "elapsed", "delay", "wait"),
    )
)
"""Stems of words that ask for the time between two dates."""


def _span(table: TableProfile, question_words: frozenset[str]) -> tuple[Column, Column] | None:
    """The dates between which something lasts: the two that the question names, or those of start and end."""
    dates = [column for column in table.dates if not column.is_stored_as_text]
    mentioned = named_dates(table, question_words)
    if len(mentioned) == 2 and _SPAN_WORDS & question_words and (ordered := in_order(*mentioned)):
        return ordered
    ends_of_way = [column for column in dates if _ENDS_OF_WAY & set(words(column.name))]
    if len(ends_of_way) == 2 and (way := in_order(*ends_of_way)):
        return way  # guests of a hotel depart after their arrival, and trains before it
    starts = [column for column in dates if _STARTS & set(words(column.name))]
    ends = [column for column in dates if _ENDS & set(words(column.name)) and column not in starts]
    if len(starts) == 1 and len(ends) == 1:
        return starts[0], ends[0]
    return in_order(*dates) if len(dates) == 2 and _SPAN_WORDS & question_words else None


def named_dates(table: TableProfile, question_words: frozenset[str]) -> list[Column]:
    """The dates of a table whose names stand in a question."""
    dates = (column for column in table.dates if not column.is_stored_as_text)
    return [column for column in dates if _is_named(column, question_words)]


def _is_named(column: Column, question_words: frozenset[str]) -> bool:
    parts = [stem(word) for word in words(column.name) if word not in ("at", "on", "date", "time")]
    return bool(parts) and all(part in question_words for part in parts)


def in_order(first: Column, second: Column) -> tuple[Column, Column] | None:
    """Two dates, the earlier one first, if both bounds of one are before those of the other."""
    lows, highs = (str(first.low), str(second.low)), (str(first.high), str(second.high))
    if lows[0] <= lows[1] and highs[0] <= highs[1]:
        return first, second
    return (second, first) if lows[1] <= lows[0] and highs[1] <= highs[0] else None


def has_days_only(column: Column) -> bool:
    try:
        times = [datetime.fromisoformat(str(bound)) for bound in (column.low, column.high)]
    except ValueError:
        return True
    return all(time.hour == time.minute == time.second == 0 for time in times)


def holds_days_only(column: Column) -> bool:
    """Tell if the bounds and the examples of a date have no time of day."""
    texts = [str(example) for example in column.examples]
    return has_days_only(column) and all("T" not in text or text.endswith("T00:00:00") for text in texts)


def _pairs_by_name(numbers: Sequence[Column]) -> tuple[list[Column], list[Column]] | None:
    """A price of one piece with the number of pieces: `cost_per_portion` and `portions`."""
    for price in numbers:
        money, _, piece = "_".join(words(price.name)).partition("_per_")
        if not piece or not {"price", "cost", "eur", "usd", "fee", "amount"} & set(money.split("_")):
            continue
        pieces = [c for c in numbers if c is not price and stem("".join(words(c.name))) == stem(piece)]
        if len(pieces) == 1:
            return [price], pieces
    return None


_PACED = {"night": "day", "day": "day", "hour": "hour", "week": "week", "month": "month"}
"""Units behind `per` in names of prices, and those of the time that is paid for."""


def _paced_price(numbers: Sequence[Column]) -> tuple[Column, str] | None:
    """The only price of a unit of time, and the unit: `price_per_night`."""
    paced = [
        (column, _PACED[parts[-1]])
        for column in numbers
        if (parts := words(column.name))[-2:-1] == ["per"] and parts[-1] in _PACED and PRICES & set(parts)
    ]
    return paced[0] if len(paced) == 1 else None


def _products(table: TableProfile, question_words: frozenset[str]) -> Iterator[tuple[Column, Expression]]:
    numbers = [column for column in table.columns if column.is_number and not column.is_stored_as_text]
    # A stored revenue knows of discounts and taxes, of which price by quantity does not.
    if any(REVENUES & set(name_parts(column.name)) for column in numbers):
        return
    span = _span(table, question_words)
    if span is not None and (paced := _paced_price(numbers)):
        # What a stay costs: the price of a night for each of its nights.
        product = build.arithmetic("*", build.column(paced[0].name), _elapsed(*span, paced[1]))
        missing = max(paced[0].missing, *(date.missing for date in span), 0.001)
        yield Column("revenue", "number", "numeric", distinct=table.rows, missing=missing), product
        return
    prices = [c for c in numbers if PRICES & set(name_parts(c.name))]
    quantities = [
        c for c in numbers if QUANTITIES & set(name_parts(c.name)) and c.type == "integer" and c not in prices
    ]
    # A price that names its piece settles which number of pieces it is of.
    prices, quantities = _pairs_by_name(numbers) or (prices, quantities)
    if len(prices) == 1 and len(quantities) == 1:
        product = build.arithmetic("*", build.column(prices[0].name), build.column(quantities[0].name))
        missing = max(prices[0].missing, quantities[0].missing, 0.001)
        yield Column("revenue", "number", "numeric", distinct=table.rows, missing=missing), product
