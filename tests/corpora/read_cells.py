"""Files of the corpus of cells, uploaded as the product does, and how far their readings agree."""

import math
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from tests.corpora.cells import (
    CANONICAL_PATTERNS,
    CELLS_DIRECTORY,
    NUMERIC_KINDS,
    Alternative,
    CellColumn,
    CellFile,
    CellValue,
    Convention,
    Kind,
    RowToPredict,
)
from tests.corpora.files import read_raw_table
from tests.corpora.tables import Half

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads.ingest import ingest
from app.errors import LabError
from app.modeling.facts.readings import MAX_OPEN_CONFIDENCE, ColumnReading, FileReading, ReadingChoice
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.training.schema import conform_rows, infer_schema
from app.modeling.type_inference.column_decisions import infer_types, make_parsers
from app.modeling.type_inference.parsers import parse_columns
from app.modeling.type_inference.stored_readings import use_readings

WORDS: frozenset[Kind] = frozenset({"code", "category", "text"})
MOMENTS: frozenset[Kind] = frozenset({"date", "datetime", "month", "quarter", "week"})
CLOCK_KINDS: frozenset[Kind] = frozenset({"duration", "time"})
_SECONDS = {
    **{
        "ms": 1e-3,
        "s": 1.0,
        "sec": 1.0,
        "second": 1.0,
        "min": 60.0,
        "minute": 60.0,
        "h": 3600.0,
        "hour": 3600.0,
    },
    **{"d": 86400.0, "day": 86400.0, "week": 604800.0, "hr": 3600.0},
}
"""Unit of durations, without a plural ending -> seconds."""
_CHOICES: dict[str, ReadingChoice] = {"dmy": "day_first", "mdy": "month_first"}
_DATETIME = re.compile(CANONICAL_PATTERNS["datetime"])
_TARGET = "\u0001"
"""Name of the target that a model of the file would have: no column has it."""


@dataclass(frozen=True)
class ReadColumn:
    """A column of a file as the product reads it: its `values`, the texts of the file and the reading."""

    judged: CellColumn
    values: pd.Series
    texts: list[str]
    reading: ColumnReading | None

    @cached_property
    def faults(self) -> dict[str, str]:
        """Aspect that does not agree -> what was read; empty where all agree."""
        faults = {
            "kind": "" if self.kind_agrees else f"{self.kind} ({self.judged.kind})",
            "convention": self._convention_fault(),
            "values": self._value_fault(),
            "missing": self._missing_fault(),
            "certain": self._certainty_fault(),
        }
        return {aspect: fault for aspect, fault in faults.items() if fault}

    @property
    def parser(self) -> Mapping[str, Any]:
        return (self.reading.parser if self.reading else None) or {}

    @cached_property
    def kind(self) -> Kind:
        """Kind of the values as the stored reading tells it."""
        return (self.reading.kind if self.reading else None) or _plain_kind(self.values)

    @property
    def kind_agrees(self) -> bool:
        expected = {self.judged.kind, *self.judged.accepted_kinds}
        if self.kind in WORDS:
            return bool(expected & WORDS)
        # A duration in a unit of time is a number of that unit too.
        alike = {"number": "year", "duration": "number" if self.judged.convention.unit else "duration"}
        return self.kind in expected or alike.get(self.kind) in expected

    @property
    def are_accepted_texts(self) -> bool:
        """Test for texts where another kind is preferred: their values are the texts of the cells."""
        return self.kind in WORDS and self.judged.kind not in WORDS and self.kind_agrees

    def _convention_fault(self) -> str:
        """The first field of the convention that differs. Texts have none."""
        if self.kind in WORDS:
            return ""
        expected = self.judged.convention
        read = self._convention()
        names = ("decimal", "thousands", "date_order", "currency", "unit")
        for name in names:
            value = getattr(expected, name)
            if value is not None and name in read and read[name] != _plain_mark(value):
                return f"{name} {read[name]!r} ({value!r})"
        return ""

    def _convention(self) -> dict[str, str]:
        """Field -> what the reading says; fields that it leaves open are absent."""
        reading, parser = self.reading, self.parser
        if self.kind in NUMERIC_KINDS and self.kind != "duration":
            read = {"decimal": str(parser.get("decimal", "."))}
            if any(_is_grouped(text) for text in self.texts):
                read["thousands"] = str(parser.get("group", ""))
            if reading is not None and reading.unit and self.judged.convention.currency not in (None, "mixed"):
                read["currency"] = reading.unit
            return read
        if self.kind in MOMENTS and "day and month" in parser.get("spellings", ()):
            return {"date_order": "dmy" if parser.get("day_first") else "mdy"}
        return {}

    def _value_fault(self) -> str:
        for cell in self.judged.cells:
            value = self.value_at(cell.row)
            expected = [cell.value, *cell.accepted]
            if self.are_accepted_texts and cell.value is not None:
                expected = [cell.text.strip()]
            if not any(agree(value, other) for other in expected):
                return f"{cell.text!r} -> {value!r} ({cell.value!r})"
        return ""

    def value_at(self, row: int) -> CellValue:
        if row > len(self.values):
            return None
        return to_canonical(self.values.iloc[row - 1], self.judged.kind, self.kind, self.unit)

    @property
    def unit(self) -> str:
        return self.reading.unit if self.reading else ""

    def _missing_fault(self) -> str:
        """Rows that are missing on one side only; texts with other accepted values count on neither."""
        doubtful = {cell.text for cell in self.judged.cells if cell.accepted}
        free = {row for row, text in enumerate(self.texts, start=1) if text in doubtful}
        read = {n for n, is_missing in enumerate(self.values.isna(), start=1) if is_missing}
        rows = sorted((read ^ set(self.judged.missing)) - free)
        if not rows:
            return ""
        texts = sorted({self.texts[row - 1] for row in rows if row <= len(self.texts)})
        return f"{len(rows)} rows differ: {texts[:4]}"

    def _certainty_fault(self) -> str:
        options = self.reading.alternatives if self.reading else ()
        if self.judged.certain:
            confidence = self.reading.confidence if self.reading else 1.0
            is_doubtful = bool(options) and confidence <= MAX_OPEN_CONFIDENCE
            return f"{[option.choice for option in options]} at {confidence} (certain)" if is_doubtful else ""
        choices = {option.choice for option in options}
        missing = [
            option.reason
            for option in self.judged.alternatives
            if not choices & _choices_of(option, self.judged)
        ]
        return f"alternatives {sorted(choices)} (also: {missing})" if missing else ""


def _plain_kind(values: pd.Series) -> Kind:
    """Kind of a column without a stored reading."""
    if pd.api.types.is_bool_dtype(values.dtype):
        return "boolean"
    if pd.api.types.is_numeric_dtype(values.dtype):
        return "number"
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return "date" if (values.dropna() == values.dropna().dt.normalize()).all() else "datetime"
    return "text"


def _plain_mark(mark: str) -> str:
    return {"\u2019": "'", "\u00a0": " ", "\u202f": " "}.get(mark, mark)


def _is_grouped(text: str) -> bool:
    digits = sum(map(str.isdigit, text))
    return digits > 3 and any(mark in text for mark in ".,'\u2019 \u00a0\u202f")


def _choices_of(option: Alternative, column: CellColumn) -> set[ReadingChoice]:
    """Choices of the product that give an alternative."""
    convention: Convention = option.convention
    if convention.date_order in _CHOICES:
        return {_CHOICES[convention.date_order]}
    if option.kind in NUMERIC_KINDS and column.kind in NUMERIC_KINDS:
        if convention.decimal == "," or convention.thousands == ".":
            return {"decimal_comma"}
        if convention.decimal == "." or convention.thousands == ",":
            return {"decimal_point"}
    if option.kind in WORDS:
        return {"text", "category"}
    return (
        {"number"}
        if option.kind in NUMERIC_KINDS
        else {"boolean"}
        if option.kind == "boolean"
        else {"datetime"}
    )


def to_canonical(value: object, kind: Kind, read_kind: Kind, unit: str) -> CellValue:
    """A value of the product in the canonical form of a kind; of a text without blanks around it."""
    if pd.isna(value):  # type: ignore[call-overload]  # any scalar
        return None
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, pd.Timestamp):
        return _moment(value, kind)
    number = float(value)  # type: ignore[arg-type]  # booleans and numbers are left
    if kind == "boolean":
        return bool(number) if number in (0, 1) else number
    if kind in CLOCK_KINDS:
        seconds = number * _SECONDS.get(unit.casefold().rstrip("s") or "s", 1.0)
        return seconds if kind == "duration" else _time_of_day(seconds)
    return number


def _moment(value: pd.Timestamp, kind: Kind) -> str:
    year, week, _ = value.isocalendar()
    forms: dict[str, str] = {
        "date": f"{value:%Y-%m-%d}",
        "month": f"{value:%Y-%m}",
        "quarter": f"{value.year}-Q{value.quarter}",
        "week": f"{year}-W{week:02}",
        "year": str(value.year),
    }
    return forms.get(kind, value.isoformat())


def _time_of_day(seconds: float) -> str:
    day_seconds = round(seconds) % 86_400
    return f"{day_seconds // 3600:02}:{day_seconds // 60 % 60:02}:{day_seconds % 60:02}"


def agree(value: CellValue, expected: CellValue) -> bool:
    """Test if a value agrees with a judgement: numbers within 1e-9 of their size, times within a second."""
    if value is None or expected is None:
        return value is expected
    if isinstance(expected, str):
        if _DATETIME.match(expected) and isinstance(value, str) and _DATETIME.match(value):
            return abs((_utc(value) - _utc(expected)).total_seconds()) < 1
        return str(value) == expected
    if isinstance(value, str):
        return False
    return math.isclose(float(value), float(expected), rel_tol=1e-9, abs_tol=1e-12)


def _utc(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


@dataclass(frozen=True)
class ReadFile:
    """A file as the product reads it. `fault`: why it was refused. `rows`: (read, judged)."""

    file: CellFile
    fault: str = ""
    columns: tuple[ReadColumn, ...] = ()
    lost: tuple[str, ...] = ()
    """Judged columns that the table does not have."""
    rows: tuple[int, int] = (0, 0)
    predictions: tuple["ReadRow", ...] = field(default=())


@dataclass(frozen=True)
class ReadRow:
    """A row to predict: column -> what was read and what it means."""

    row: RowToPredict
    values: Mapping[str, tuple[CellValue, CellValue]]
    fault: str = ""

    @property
    def wrong(self) -> dict[str, tuple[CellValue, CellValue]]:
        return {name: pair for name, pair in self.values.items() if not agree(*pair)}


def read_cell_file(half: Half, file: CellFile) -> ReadFile:
    """Upload a file and read its rows to predict."""
    path = CELLS_DIRECTORY / half / f"{file.id}.csv"
    raw = read_raw_table(path, file.form)
    with tempfile.TemporaryDirectory(prefix="labcrew-corpus-") as folder:
        try:
            facts: Any = ingest(CellWorkspace({"upload": path}, Path(folder)), path.name)
        except LabError as error:
            return ReadFile(file, f"{error.code}: {error}")
        table = pd.read_parquet(Path(folder) / "table.parquet")
    reading = FileReading.model_validate(facts["reading"])
    inferred, converted = use_readings(table, infer_types(table), reading.parsers())
    parsers = make_parsers([*inferred, *converted])
    parsed = parse_columns(table, parsers)
    names = {name.strip(): position for position, name in enumerate(raw.header)}
    columns = tuple(
        ReadColumn(
            column,
            parsed[column.name],
            [row[names[column.name]] for row in raw.rows],
            reading.find(column.name),
        )
        for column in file.columns
        if column.name in parsed.columns
    )
    lost = tuple(column.name for column in file.columns if column.name not in parsed.columns)
    rows = _read_rows(file, columns, parsed, parsers)
    return ReadFile(file, "", columns, lost, (len(table), len(raw.rows)), rows)


def _read_rows(
    file: CellFile, columns: tuple[ReadColumn, ...], parsed: pd.DataFrame, parsers: list[dict[str, Any]]
) -> tuple[ReadRow, ...]:
    """Read rows to predict as the schema of a model of the table does; columns that a row lacks are missing."""
    problem = Problem(_TARGET, ProblemKind.REGRESSION, "rmse", parsers=tuple(parsers))
    described = infer_schema(parsed.assign(**{_TARGET: 0.0}), problem, [])
    schema = [{**column, "required": False} for column in described]
    by_name = {column.judged.name: column for column in columns}
    read = []
    for row in file.rows_to_predict:
        judged = {name: value for name, value in row.values.items() if name in by_name}
        try:
            frame = conform_rows(pd.DataFrame([row.cells]), schema, parsers).inputs
        except LabError as error:
            read.append(ReadRow(row, {name: (None, value) for name, value in judged.items()}, str(error)))
            continue
        values = {}
        for name, value in judged.items():
            column = by_name[name]
            cell = to_canonical(frame[name].iloc[0], column.judged.kind, column.kind, column.unit)
            if column.are_accepted_texts:
                value = None if value is None else row.cells[name].strip()
            values[name] = (cell, value)
        read.append(ReadRow(row, values))
    return tuple(read)
