"""Profiles of tables and columns as the planner uses them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from pydantic import BaseModel, Field

from app.agents.goals.tables.column_formula import Derivation
from app.agents.goals.words.name_parts import parts_of_name
from app.agents.goals.words.outcome_words import OUTCOMES
from app.agents.goals.words.quantity_names import quantities_of_name
from app.agents.goals.words.stemming import stems
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import IDENTIFIER_WORDS, SECONDS_BY_UNIT

COMMON_SPACINGS_S = (1.0, 10.0, 60.0, 300.0, 600.0, 900.0, 1800.0, 3600.0)
"""Seconds between rows of usual sensors and price bars."""
MIN_NUMBERED_ROWS = 20
"""Rows from which numbers without a gap are no measurements by chance."""


@dataclass(frozen=True)
class Column:
    """`hint` is the profile's: numeric, boolean, category, datetime, text, id, constant or empty."""

    name: str
    type: str
    hint: str
    distinct: int = 0
    missing: float = 0.0
    unique: bool = False
    top: tuple[Any, ...] = ()
    values: tuple[Any, ...] = ()
    """All values of a text or a code with few of them, else the most frequent ones."""
    low: Any = None
    high: Any = None
    median: Any = None
    """Median of a number."""
    is_date_order_open: bool = False
    """Dates whose order of day and month is ambiguous."""
    is_stored_as_text: bool = False
    """Stored as text, whatever type its values parse as."""
    examples: tuple[Any, ...] = ()
    """The first different values, as they are stored."""
    date_spelling: str | None = None
    """The commonest spelling of dates that are stored as text."""
    is_day_first: bool = False
    number_signs: tuple[str, str] | None = None
    """Decimal and thousands sign of numbers that are stored as text."""
    unit: str = ""
    """Words after an amount, such as `dollars`; empty where neither cells nor name have a unit."""
    derivation: Derivation | None = None
    """How the column is computed, if no table stores it."""

    @property
    def can_be_target(self) -> bool:
        return self.hint not in {"id", "constant", "empty", "datetime", "text"}

    @property
    def is_number(self) -> bool:
        return self.type in {"integer", "number"}

    def spans(self, value: float) -> bool:
        """Test if a value lies within the known range of numbers."""
        low, high = self.low, self.high
        return isinstance(low, int | float) and isinstance(high, int | float) and low <= value <= high

    @property
    def numbers_rows(self) -> bool:
        """Tell if whole numbers without a gap tell all rows apart: `job` from 1 to 96."""
        low, high = self.low, self.high
        if self.type != "integer" or not self.unique or self.missing or self.distinct < MIN_NUMBERED_ROWS:
            return False
        if not isinstance(low, int | float) or not isinstance(high, int | float):
            return False
        return high - low + 1 == self.distinct

    @property
    def has_few_values(self) -> bool:
        return 2 <= self.distinct <= 10


@dataclass(frozen=True)
class TableProfile:
    name: str
    rows: int
    columns: tuple[Column, ...] = field(default=())

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)

    @property
    def dates(self) -> list[Column]:
        return [column for column in self.columns if column.hint == "datetime" or column.type == "datetime"]

    @cached_property
    def columns_in_name(self) -> list[Column]:
        """The columns whose noun the table's name has, as a file has that is named after what is predicted
        of it: `churned` of `churn.csv`, `SalePrice` of `house_prices.csv`."""
        nouns = {part: word for word in words(self.name) for part in parts_of_name(word)}
        return [
            column
            for column in self.columns
            if (noun := _named_part(column, nouns))
            and _may_be_outcome(column)
            and not _numbers_things(column, nouns[noun])
        ]

    @cached_property
    def subject(self) -> str:
        """The words of the name that say what a row is: `house` of `house_prices` with a column `SalePrice`.

        The others mean a column in a goal, and do not just say again which table it is about.
        """
        parts = {part for word in words(self.name) for part in parts_of_name(word)}
        nouns = {_named_part(column, parts) for column in self.columns_in_name}
        return " ".join(word for word in words(self.name) if nouns.isdisjoint(parts_of_name(word)))


def _may_be_outcome(column: Column) -> bool:
    """Tell if a table may be named after a column: `order_id` of orders says which row it is."""
    return column.can_be_target and not column.unique and IDENTIFIER_WORDS.isdisjoint(words(column.name))


def _numbers_things(column: Column, noun: str) -> bool:
    """Tell if a column has a number of what the noun calls in the plural: `flight` of `flights`.

    `salary` of `salaries` is an amount.
    """
    own = words(column.name)[-1]
    is_one_of_many = noun != own and noun.endswith("s") and not own.endswith("s")
    is_code = column.type == "integer" and column.distinct >= MIN_NUMBERED_ROWS
    return is_one_of_many and is_code and not quantities_of_name([own])


def _named_part(column: Column, nouns: Collection[str]) -> str:
    """Return the stem of a column's name by which a table is called after it; empty if there is none.

    It is the last one, beside units and marks, or of a yes/no column that of an outcome: `default` of
    `default_payment_next_month`.
    """
    parts = parts_of_name(column.name)
    is_flag = column.distinct == FLAG_VALUES
    shared_parts = (part for part in reversed(parts) if part in nouns)
    return next((part for part in shared_parts if part == parts[-1] or (is_flag and part in OUTCOMES)), "")


FLAG_VALUES = 2
"""Different values of a column of yes or no."""


class _Parser(BaseModel):
    """The spelling of the dates or numbers of a text column."""

    spellings: list[str] = Field(default_factory=list)
    day_first: bool = False
    decimal: str | None = None
    group: str = ""


class _Reading(BaseModel):
    """The type that a text column parses as, with the range of the parsed values."""

    parsed_type: str | None = Field(default=None, alias="as")
    parser: _Parser | None = None
    confidence: float = 1.0
    min: Any = None
    max: Any = None
    q50: Any = None


class _TopValue(BaseModel):
    value: Any


class _ColumnSchema(BaseModel):
    """A column of `get_dataset_schema`. Columns without a profile have only name and type."""

    name: str
    type: str
    hint: str | None = None
    distinct: int | None = None
    missing: float | None = None
    unique: bool | None = None
    top: list[_TopValue] | None = None
    examples: list[Any] | None = None
    values: list[Any] | None = None
    reading: _Reading | None = None
    unit: str = ""
    min: Any = None
    max: Any = None
    q50: Any = None


class _TableSchema(BaseModel):
    """The value of `get_dataset_schema`."""

    table: str
    rows: int
    columns: list[_ColumnSchema]


def make_table_profile(schema: object) -> TableProfile:
    """Make a table profile from the value of `get_dataset_schema`."""
    parsed = _TableSchema.model_validate(schema)
    return TableProfile(parsed.table, parsed.rows, tuple(map(_column, parsed.columns)))


def _column(schema: _ColumnSchema) -> Column:
    reading = schema.reading or _Reading()
    # A text column has no range of its own; that of its reading is the range of what the text stands for.
    values = schema.reading if schema.reading and "min" in schema.reading.model_fields_set else schema
    parsed_type = reading.parsed_type
    parser = reading.parser or _Parser()
    return Column(
        name=schema.name,
        type=parsed_type if parsed_type in _PARSED_TYPES else schema.type,
        hint=schema.hint or _HINTS.get(schema.type, "category"),
        distinct=schema.distinct or 0,
        missing=schema.missing or 0.0,
        unique=bool(schema.unique),
        top=tuple(entry.value for entry in schema.top or ()),
        values=tuple(schema.values or [entry.value for entry in schema.top or ()]),
        low=values.min,
        high=values.max,
        median=reading.q50 if reading.q50 is not None else schema.q50,
        is_date_order_open=parsed_type == "datetime" and reading.confidence <= 0.5,
        is_stored_as_text=schema.type == "text",
        examples=tuple(schema.examples or ()),
        date_spelling=next(iter(parser.spellings), None),
        is_day_first=parser.day_first,
        unit=schema.unit,
        number_signs=(parser.decimal, parser.group) if parser.decimal else None,
    )


_PARSED_TYPES = ("number", "datetime", "boolean")
"""Types that text may parse as; see `modeling.type_inference`."""

_HINTS = {"integer": "numeric", "number": "numeric", "boolean": "boolean", "datetime": "datetime"}


def row_spacing_s(column: Column) -> float | None:
    """Return the usual seconds between neighbouring rows of a date column; None if unknown."""
    try:
        low, high = datetime.fromisoformat(str(column.low)), datetime.fromisoformat(str(column.high))
    except ValueError:
        return None
    gaps = column.distinct - 1
    return _round_spacing((high - low).total_seconds() / gaps) if gaps > 0 and high > low else None


def _round_spacing(spacing_s: float) -> float:
    """Round to a common spacing that gaps have stretched: a mean of 5.6 minutes means five-minute rows.

    Whole minutes stay: gaps stretch a mean to fractions, and rows may be 20 minutes apart.
    """
    if spacing_s % SECONDS_BY_UNIT["minute"] == 0:
        return spacing_s
    return next((rhythm for rhythm in COMMON_SPACINGS_S if rhythm <= spacing_s <= 1.5 * rhythm), spacing_s)


def mentioned_tables(tables: Sequence[TableProfile], goal: str) -> list[TableProfile]:
    """Return the tables whose name occurs in the goal."""
    goal_stems = set(stems(goal))
    return [table for table in tables if (name := set(stems(table.name))) and name <= goal_stems]
