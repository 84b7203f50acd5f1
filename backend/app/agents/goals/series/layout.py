"""Layouts of series in tables: a single one, several told apart by keys, or transactions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from app.agents.goals.periods.time_axis import MeasuredAxis
from app.agents.goals.tables.column_roles import is_entity
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import IDENTIFIER_WORDS

LayoutKind = Literal["series", "panel", "transactions"]
MAX_KEYS = 3
"""Columns that together tell series apart: with four almost any rows are told apart."""
MAX_CANDIDATES = 12
"""Columns that are tried as keys: their combinations of three are 220."""
MIN_ROWS_PER_TEXT, MIN_ROWS_PER_NUMBER = 3, 5
"""Rows for each value of a key on average: with fewer a column hardly makes series. Numbers measure more often
than they name."""
MAX_REPEATED_SHARE = 1.05
"""Rows for each time up to which a series is single, and some of its rows are repeated by fault."""
MIN_EVENTS, MAX_ROWS_PER_EVENT = 100, 5
"""Numbers without a gap from which they count events, and rows of an event: ages fill a range too."""
MIN_COMPLETE_SHARE = 0.998
"""Share of all rows of a panel from which it is one without doubt."""
MAX_UNREPEATED_SHARE = 1.002
"""Share of all rows of a panel above which rows repeat: fewer are a fault of the file."""
MIN_PANEL_COVERAGE, MIN_PAIRED_COVERAGE, MAX_PANEL_COVERAGE = 0.7, 0.97, 1.03
"""Share of the rows that a panel would have if every series had every time. Among pairs of keys, one comes near
it by chance."""


@dataclass(frozen=True)
class SeriesLayout:
    """The kind of layout, the `keys` of a panel, and the columns that are as good (a code beside a name)."""

    kind: LayoutKind
    keys: tuple[Column, ...] = ()
    spare_keys: tuple[Column, ...] = ()
    is_complete: bool = True
    """False for a panel that lacks rows: events by chance have as many for each time and value of a column."""


def find_layout(table: TableProfile, measured: MeasuredAxis) -> SeriesLayout:
    """Find how the rows of a table make series along a time axis."""
    if measured.axis.period_columns:
        return _wide_layout(table, measured)
    if measured.every is None:
        return SeriesLayout("transactions")
    if table.rows <= MAX_REPEATED_SHARE * measured.times:
        return SeriesLayout("series")
    candidates = _key_columns(table, measured)
    # Rows with a number each are events, even if some column has about as many for each time.
    if any(_counts_rows(column, table.rows) for column in table.columns):
        return SeriesLayout("transactions")
    for size in range(1, MAX_KEYS + 1):
        # Fewer keys first: of many combinations one fits by chance.
        fitting = [
            keys
            for keys in combinations(candidates, size)
            if _fits(keys, table.rows, measured.times) and not _are_states(keys)
        ]
        if fitting:
            keys = fitting[0]
            if table.rows > MAX_UNREPEATED_SHARE * measured.times * _product(keys):
                return SeriesLayout("transactions")  # a key has several rows at one time: they are events
            spare = tuple(column for others in fitting[1:] for column in others if column not in keys)
            is_complete = table.rows >= MIN_COMPLETE_SHARE * measured.times * _product(keys)
            return SeriesLayout("panel", keys, spare, is_complete)
    return SeriesLayout("transactions")


def _wide_layout(table: TableProfile, measured: MeasuredAxis) -> SeriesLayout:
    """Find the keys of a table with a column for each period, where a series is a row or several."""
    series = round(table.rows * len(measured.axis.period_columns) / max(measured.times, 1))
    if series <= 1:
        return SeriesLayout("series")
    candidates = [
        column
        for column in table.columns
        if column.name not in {*measured.axis.period_columns, *measured.axis.columns} and column.distinct > 1
    ]
    texts = [column for column in candidates if column.type == "text" or column.hint in ("id", "category")]
    for size in range(1, MAX_KEYS + 1):
        for keys in combinations(texts or candidates, size):
            if _product(keys) >= series and (size > 1 or keys[0].distinct == series):
                spare = tuple(c for c in texts if c not in keys and c.distinct == keys[0].distinct)
                return SeriesLayout("panel", keys, spare)
    return SeriesLayout("panel", tuple(texts[:1]))


def _key_columns(table: TableProfile, measured: MeasuredAxis) -> list[Column]:
    """Return the columns that may tell series apart, texts before whole numbers."""
    others = [column for column in table.columns if column.name not in measured.axis.columns]
    texts = [
        c
        for c in others
        if c.type in ("text", "boolean")
        and not c.is_number
        and 2 <= c.distinct <= table.rows / MIN_ROWS_PER_TEXT
    ]
    numbers = [c for c in others if c.type == "integer" and 2 <= c.distinct <= table.rows / MIN_ROWS_PER_NUMBER]
    return [*texts, *numbers][:MAX_CANDIDATES]


def _counts_rows(column: Column, rows: int) -> bool:
    """Test for a column that numbers the rows: tickets, orders, rides."""
    if not column.unique or column.distinct != rows:
        return False
    is_range = column.type == "integer" and column.high is not None and column.high - column.low == rows - 1
    return column.hint == "id" or is_range


def _numbers_events(column: Column, rows: int) -> bool:
    """Test for a column that numbers events of several rows without a gap: receipts of a till."""
    if column.type != "integer" or column.low is None or column.high is None:
        return False
    is_range = bool(column.high - column.low == column.distinct - 1)
    return is_range and column.distinct >= max(MIN_EVENTS, rows / MAX_ROWS_PER_EVENT)


def _are_states(keys: Sequence[Column]) -> bool:
    """Test for several yes/no columns: of four rows a day two of them would make a panel by chance."""
    return len(keys) > 1 and all(key.hint == "boolean" for key in keys)


def _fits(keys: Sequence[Column], rows: int, times: int) -> bool:
    """Test if there are about as many rows as the series of these keys would have at all times."""
    minimum = MIN_PANEL_COVERAGE if len(keys) == 1 else MIN_PAIRED_COVERAGE
    return minimum <= rows / (times * _product(keys)) <= MAX_PANEL_COVERAGE


def _product(keys: Sequence[Column]) -> int:
    """Count the series that the keys could tell apart."""
    total = 1
    for column in keys:
        total *= column.distinct
    return total


def usable_numbers(table: TableProfile, layout: SeriesLayout) -> Iterator[Column]:
    """Yield the columns whose numbers may be forecast."""
    keys = {key.name for key in (*layout.keys, *layout.spare_keys)}
    for column in table.columns:
        is_counter = layout.kind == "transactions" and (
            _counts_rows(column, table.rows) or _numbers_events(column, table.rows)
        )
        is_name = (
            column.name in keys or set(words(column.name)) & IDENTIFIER_WORDS or is_entity(column, table.rows)
        )
        if column.is_number and not (is_counter or is_name or column.hint in ("id", "constant", "empty")):
            yield column
