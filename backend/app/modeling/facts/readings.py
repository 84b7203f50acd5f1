"""The reading of a file: what its cells mean, decided once and stored with the dataset.

The module imports no science library: processes outside cells read and compare stored readings.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

ReadingChoice = Literal[
    "number",
    "category",
    "text",
    "boolean",
    "datetime",
    "day_first",
    "month_first",
    "decimal_point",
    "decimal_comma",
]
"""A reading that a person may choose for a column."""


ValueKind = Literal[
    "number",
    "money",
    "percent",
    "duration",
    "time",
    "date",
    "datetime",
    "week",
    "month",
    "quarter",
    "boolean",
    "code",
    "category",
    "text",
]
"""Kind of the values of a column: finer than its type."""


class CellExample(BaseModel):
    """A cell as written, and its value."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    cell: str = Field(examples=["17.344"])
    value: JsonValue = Field(examples=[17344])

    def __str__(self) -> str:
        return f"{self.cell} -> {self.value}"


class AlternativeReading(BaseModel):
    """Another reading that the cells of a column admit."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    choice: ReadingChoice
    examples: tuple[CellExample, ...] = ()


class ColumnReading(BaseModel):
    """The reading of one column. `parser`: JSON of `type_inference.parsers`, None for cells as they are."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    column: str
    reads_as: str = Field(description="integer, number, boolean, text or datetime.")
    kind: ValueKind | None = Field(default=None, description="Kind of the values, if the cells tell it.")
    unit: str = Field(
        default="",
        description="Unit of the values: a currency as its ISO code, % of percents, hours of durations.",
        examples=["EUR"],
    )
    text: str = Field(default="", description="The reading as a sentence.")
    confidence: float = 1.0
    parser: dict[str, Any] | None = Field(
        default=None, description="How a raw cell is parsed, also at predict."
    )
    examples: tuple[CellExample, ...] = ()
    alternatives: tuple[AlternativeReading, ...] = Field(default=(), description="What else it could be.")
    chosen_by: Literal["evidence", "user", "earlier_file"] = "evidence"


class FileReading(BaseModel):
    """The reading of a file: its conventions, and the reading of each column that is not plain."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    decimal: Literal[".", ","] | None = Field(default=None, description="Decimal mark of the file, if proven.")
    date_order: Literal["day_first", "month_first"] | None = None
    evidence: tuple[str, ...] = ()
    notes: tuple[str, ...] = Field(default=(), description="Contradictions between columns.")
    columns: tuple[ColumnReading, ...] = ()

    @property
    def is_day_first(self) -> bool | None:
        return None if self.date_order is None else self.date_order == "day_first"

    def find(self, name: str) -> ColumnReading | None:
        """The reading of a column; None for one that is plain."""
        return next((column for column in self.columns if column.column == name), None)

    def with_column(self, column: ColumnReading) -> "FileReading":
        """The reading with that of one column replaced or added."""
        others = tuple(other for other in self.columns if other.column != column.column)
        return self.model_copy(update={"columns": (*others, column)})

    def parsers(self) -> dict[str, dict[str, Any]]:
        """Column -> its parser as JSON, of columns that have one."""
        return {column.column: dict(column.parser) for column in self.columns if column.parser}


PLAIN_READING = FileReading()
"""The reading of a table whose cells are used as they are."""


def merge_parsers(readings: Sequence[FileReading]) -> dict[str, dict[str, Any]]:
    """Column -> parser over several files; a column that two files read in different ways has none."""
    merged: dict[str, dict[str, Any]] = {}
    conflicting: set[str] = set()
    for reading in readings:
        for name, parser in reading.parsers().items():
            # No parser is better than one that is wrong for some of the rows.
            if merged.setdefault(name, parser) != parser:
                conflicting.add(name)
    return {name: parser for name, parser in merged.items() if name not in conflicting}


MAX_OPEN_CONFIDENCE = 0.6
"""Confidence of readings that nothing in the file decides: 0.5 of dates, 0.6 of separators."""


def inherit_choices(reading: FileReading, earlier: FileReading) -> dict[str, ReadingChoice]:
    """Column -> the reading of an earlier file of the same kind, where this file's cells decide nothing."""
    choices: dict[str, ReadingChoice] = {}
    parsers = earlier.parsers()
    for column in reading.columns:
        choice = _choice_of(parsers.get(column.column, {}))
        if choice is None:
            continue
        if choice in ("day_first", "month_first"):
            # Cells of this file that prove an order win over an earlier file.
            if _is_order_open(column):
                choices[column.column] = choice
        elif reading.decimal is None and choice in {option.choice for option in column.alternatives}:
            choices[column.column] = choice
    return choices


def mark_inherited(reading: FileReading, names: Sequence[str]) -> FileReading:
    """The reading with columns marked as read like those of an earlier file."""
    for name in names:
        column = reading.find(name)
        if column is not None:
            text = f"{name!r} is read as in an earlier file with the same columns."
            update = {"chosen_by": "earlier_file", "text": text}
            reading = reading.with_column(column.model_copy(update=update))
    return reading


def _is_order_open(column: ColumnReading) -> bool:
    return bool(column.parser) and column.confidence <= MAX_OPEN_CONFIDENCE and column.reads_as == "datetime"


def _choice_of(parser: Mapping[str, Any]) -> ReadingChoice | None:
    """The choice that gives a parser; None for a parser that no choice gives."""
    if parser.get("op") == "read_number":
        return "decimal_comma" if parser.get("decimal") == "," else "decimal_point"
    if parser.get("op") == "read_date" and "day_first" in parser:
        return "day_first" if parser["day_first"] else "month_first"
    return None


def derive_reading(columns: Sequence[Mapping[str, Any]], format_: Mapping[str, Any]) -> FileReading:
    """Derive the reading of a dataset that was stored before readings were, from its format."""
    comma = format_.get("decimal") == ","
    rules: Mapping[str, str] = format_.get("readings") or {}
    derived = [
        reading
        for column in columns
        if (reading := _derive_column(str(column["name"]), str(column["type"]), rules, comma=comma))
    ]
    return FileReading(decimal="," if comma else None, columns=tuple(derived))


def _derive_column(name: str, type_: str, rules: Mapping[str, str], *, comma: bool) -> ColumnReading | None:
    parser = date_rule_parser(rules.get(name, "")) if type_ == "datetime" else None
    if type_ == "number" and comma:
        parser = number_parser(",", ".")
    return ColumnReading(column=name, reads_as=type_, parser=parser) if parser else None


def date_rule_parser(rule: str) -> dict[str, Any] | None:
    """The parser of dates that an upload converted by a rule such as `day/month/year`; None for other rules."""
    if rule.startswith(("day", "month")) and rule.endswith("year") and " " not in rule:
        return {"op": "read_date", "spellings": ["day and month"], "day_first": rule.startswith("day")}
    return None


def number_parser(decimal: str, group: str) -> dict[str, Any]:
    """The parser of numbers without units."""
    return {"op": "read_number", "decimal": decimal, "group": group}
