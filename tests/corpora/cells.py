"""Format of the corpus of cells: small files as the public writes them, and the values that they mean."""

import re
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import Field, model_validator
from tests.corpora.files import FileFormat
from tests.corpora.tables import ID_PATTERN, Half, InventedSource, PackageSource, StrictModel

CELLS_DIRECTORY = Path(__file__).parent / "cells"

Kind = Literal[
    "number",
    "money",
    "percent",
    "date",
    "datetime",
    "time",
    "week",
    "month",
    "quarter",
    "year",
    "duration",
    "boolean",
    "code",
    "category",
    "text",
]
CellValue = bool | int | float | str | None

NUMERIC_KINDS: Final[frozenset[Kind]] = frozenset({"number", "money", "percent", "year", "duration"})
CANONICAL_PATTERNS: Final[dict[Kind, str]] = {
    "date": r"\d{4}-\d\d-\d\d",
    "datetime": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?",
    "time": r"\d\d:\d\d:\d\d",
    "week": r"\d{4}-W\d\d",
    "month": r"\d{4}-\d\d",
    "quarter": r"\d{4}-Q[1-4]",
}
"""Canonical texts of times; an offset stands in a datetime exactly where the cell has one."""


class Convention(StrictModel):
    """Way in which a column is written; a field is absent where it does not apply.

    `decimal` is null where no cell has a fraction, `thousands` where no cell is grouped. `mixed` says that
    cells differ in convention: the other fields then describe the convention of most cells.
    """

    decimal: Literal[".", ","] | None = None
    thousands: Literal[".", ",", "'", "\u2019", " ", "\u00a0", "\u202f"] | None = None
    grouping: Literal["thousands", "lakhs"] | None = None
    negative: Literal["minus", "unicode_minus", "trailing_minus", "parentheses", "letter"] | None = None
    currency: str | None = Field(default=None, pattern=r"^([A-Z]{3}|mixed)$")
    unit: str | None = Field(default=None, min_length=1)
    date_order: Literal["dmy", "mdy", "ymd", "ydm"] | None = None
    two_digit_years: bool = False
    serial: Literal["excel_1900", "unix_seconds", "unix_milliseconds"] | None = None
    mixed: bool = False


class Cell(StrictModel):
    """Value of one cell.

    `row` counts rows from 1. `value` is canonical:

    - a number, in the convention's unit; a factor in the column's name ("in thousands") is not applied,
      a factor in the cell (`1.2m`) is;
    - a percent in points where the cell has a sign (`12 %` is 12), else as it is written;
    - a duration in seconds, other times as in CANONICAL_PATTERNS;
    - a code, category or text without blanks around it;
    - null where the cell is missing.

    `accepted` are other values that are as good.
    """

    row: int = Field(ge=1)
    text: str
    value: CellValue
    currency: str | None = Field(default=None, pattern=r"^[A-Z]{3}$")
    accepted: list[CellValue] = Field(default=[])


class Alternative(StrictModel):
    """Another reading of an ambiguous column: the values of the chosen cells, in their order."""

    kind: Kind
    convention: Convention
    values: list[CellValue]
    reason: str = Field(min_length=1)


class CellColumn(StrictModel):
    """Judgement of a column.

    `accepted_kinds` are other kinds that serve as well. A column is `certain` where its own cells, a sibling
    column or its name decide (`evidence` says which). An ambiguous column has alternatives, which a product
    should name.
    """

    name: str
    kind: Kind
    accepted_kinds: list[Kind] = Field(default=[])
    convention: Convention = Convention()
    certain: bool = True
    evidence: str = Field(min_length=1)
    cells: list[Cell] = Field(min_length=3, max_length=8)
    missing: list[int] = Field(default=[])
    alternatives: list[Alternative] = Field(default=[])

    @model_validator(mode="after")
    def check_certainty(self) -> Self:
        if self.certain == bool(self.alternatives):
            raise ValueError(f"column {self.name}: alternatives exactly where it is ambiguous")
        values = [cell.value for cell in self.cells]
        for alternative in self.alternatives:
            if len(alternative.values) != len(values):
                raise ValueError(f"column {self.name}: an alternative needs a value for every chosen cell")
            if alternative.kind == self.kind and alternative.values == values:
                raise ValueError(f"column {self.name}: an alternative has the same values")
        return self

    @model_validator(mode="after")
    def check_values(self) -> Self:
        for cell in self.cells:
            if (cell.value is None) != (cell.row in self.missing):
                raise ValueError(f"column {self.name}, row {cell.row}: null exactly where missing")
            check_canonical(self.kind, cell.value)
        return self


class RowToPredict(StrictModel):
    """New row in the convention of the file and the values that it means; `note` says what it tests."""

    cells: dict[str, str] = Field(min_length=1)
    values: dict[str, CellValue]
    note: str = Field(min_length=1)

    @model_validator(mode="after")
    def check_names(self) -> Self:
        if set(self.cells) != set(self.values):
            raise ValueError("a row to predict needs a value for each of its cells")
        return self


class CellFile(StrictModel):
    """One file of the corpus: `<id>.csv` lies beside its judgements."""

    id: str = Field(pattern=ID_PATTERN)
    source: PackageSource | InventedSource
    title: str = Field(min_length=1)
    form: FileFormat
    columns: list[CellColumn] = Field(min_length=2)
    rows_to_predict: list[RowToPredict] = Field(min_length=1)

    @model_validator(mode="after")
    def check_rows_to_predict(self) -> Self:
        kinds = {column.name: column.kind for column in self.columns}
        for row in self.rows_to_predict:
            for name, value in row.values.items():
                if name not in kinds:
                    raise ValueError(f"row to predict: no column {name}")
                check_canonical(kinds[name], value)
        return self


def check_canonical(kind: Kind, value: CellValue) -> None:
    """Raise ValueError where a value is not of the canonical form of its kind; null always is."""
    if value is None:
        return
    if kind in NUMERIC_KINDS:
        valid = isinstance(value, int | float) and not isinstance(value, bool)
    elif kind == "boolean":
        valid = isinstance(value, bool)
    else:
        valid = isinstance(value, str) and value == value.strip()
        if valid and kind in CANONICAL_PATTERNS:
            valid = re.fullmatch(CANONICAL_PATTERNS[kind], str(value)) is not None
    if not valid:
        raise ValueError(f"{value!r} is not the canonical form of a {kind}")


def load_cells(half: Half) -> list[CellFile]:
    """Files of one half in the order of their names; raise ValidationError on a malformed file."""
    paths = sorted((CELLS_DIRECTORY / half).glob("*.json"))
    return [CellFile.model_validate_json(path.read_text(encoding="utf-8"), strict=True) for path in paths]
