"""The reading of an upload, from the rules of its conversion and the types inferred from its text columns."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from pydantic import BaseModel, ConfigDict, JsonValue

from app.computations.uploads.column_types import COMMA, GROUPED_RULES, OPEN_MARK, TEXT, TypeRule
from app.modeling.facts.readings import (
    MAX_OPEN_CONFIDENCE,
    AlternativeReading,
    CellExample,
    ColumnReading,
    FileReading,
    ReadingChoice,
    date_rule_parser,
    number_parser,
)
from app.modeling.table.json_values import to_json_scalar
from app.modeling.type_inference.conventions import Conventions, DecimalMark
from app.modeling.type_inference.parsers import validate_parsers
from app.modeling.type_inference.value_kinds import describe_values

_RULE_FORMATS: dict[TypeRule, tuple[DecimalMark, DecimalMark]] = {
    COMMA: (",", "."),
    GROUPED_RULES[","]: (",", "."),
    GROUPED_RULES["."]: (".", ","),
}


_DAY_MONTH = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.]")


class ConvertedColumn(BaseModel):
    """The rule of a converted column, and its first cells as written."""

    model_config = ConfigDict(frozen=True)
    rule: str
    cells: tuple[str, ...] = ()
    note: str = ""
    """Note of the conversion on the column."""


class ConvertedFile(BaseModel):
    """The conventions of a converted file; empty for files whose cells have types."""

    model_config = ConfigDict(frozen=True)
    decimal: DecimalMark | None = None
    day_first: bool | None = None
    evidence: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    columns: dict[str, ConvertedColumn] = {}

    def with_cells(self, cells: Mapping[str, tuple[str, ...]]) -> "ConvertedFile":
        """The file with example cells of columns that it has none of."""
        others = {
            name: ConvertedColumn(rule="", cells=texts)
            for name, texts in cells.items()
            if name not in self.columns or not self.columns[name].cells
        }
        return self.model_copy(update={"columns": {**self.columns, **others}})

    def withdraw_notes(self, notes: Sequence[str], types: Mapping[str, str]) -> list[str]:
        """Leave out the notes that columns are kept as text, of columns that have another type after all."""
        withdrawn = {
            column.note
            for name, column in self.columns.items()
            if column.rule == TEXT.name and types.get(name) != TEXT.type
        }
        return [note for note in notes if note not in withdrawn]

    @property
    def conventions(self) -> Conventions:
        return Conventions(self.decimal, self.day_first, self.evidence, self.notes)


class _InferredReading(BaseModel):
    """`reading` of a profiled column."""

    reads_as: str
    text: str = ""
    confidence: float = 1.0
    parser: dict[str, Any] | None = None
    evidence: dict[str, Any] = {}


class _ProfiledColumn(BaseModel):
    name: str
    type: str
    examples: list[JsonValue] = []
    reading: dict[str, Any] | None = None

    @property
    def inferred(self) -> _InferredReading | None:
        if self.reading is None:
            return None
        return _InferredReading.model_validate({**self.reading, "reads_as": self.reading["as"]})


def read_file(converted: ConvertedFile, profile: Mapping[str, Any]) -> FileReading:
    """Describe how each column of a file is read, with examples and with what else its cells could be."""
    columns = [_ProfiledColumn.model_validate(column) for column in profile["columns"]]
    readings = [
        _describe_column(
            column, converted.columns.get(column.name, ConvertedColumn(rule="")), converted.decimal
        )
        for column in columns
    ]
    orders = {True: "day_first", False: "month_first", None: None}
    return FileReading.model_validate(
        {
            "decimal": converted.decimal,
            "date_order": orders[converted.day_first],
            "evidence": converted.evidence,
            "notes": converted.notes,
            "columns": [reading for reading in readings if reading is not None],
        }
    )


def describe_correction(
    reading: FileReading,
    name: str,
    choice: ReadingChoice,
    parser: Mapping[str, Any],
    cells: Sequence[str],
    profile: Mapping[str, Any],
) -> FileReading:
    """The reading of a file after a person chose that of one column. `profile`: of the new table."""
    before = reading.find(name)
    # The examples of the first reading are cells as written; those of the table may be converted.
    example_cells = [example.cell for example in before.examples] if before and before.examples else list(cells)
    columns = [_ProfiledColumn.model_validate(column) for column in profile["columns"]]
    column = next(column for column in columns if column.name == name)
    corrected = ColumnReading(
        column=name,
        reads_as=column.type,
        text=f"{name!r} is read as {choice.replace('_', ' ')}, as requested.",
        parser=dict(parser),
        examples=_parse_cells(parser, example_cells),
        alternatives=_alternatives(column, parser, example_cells),
        chosen_by="user",
    )
    return reading.with_column(corrected)


def _describe_column(
    column: _ProfiledColumn, converted: ConvertedColumn, decimal: DecimalMark | None
) -> ColumnReading | None:
    inferred = column.inferred
    parser = inferred.parser if inferred else _parser_of_rule(converted.rule)
    cells = converted.cells or tuple(str(value) for value in column.examples if column.type == "text")
    is_proven = parser is None and column.type == "number" and decimal == "."
    alternatives = () if is_proven else _alternatives(column, parser, cells)
    if parser is None and not alternatives:
        return None
    reads_as = inferred.reads_as if inferred else column.type
    evidence = inferred.evidence if inferred else {}
    kind, unit = describe_values(parser or {}, str(evidence.get("unit") or ""), column.name)
    examples = _parse_cells(parser, cells) if parser else _plain_examples(column, cells)
    return ColumnReading(
        column=column.name,
        reads_as=reads_as,
        kind=kind,
        unit=unit,
        text=inferred.text if inferred else "",
        confidence=_confidence(inferred, column, decimal, has_alternatives=bool(alternatives)),
        parser=parser,
        examples=examples,
        alternatives=alternatives,
    )


def _confidence(
    inferred: _InferredReading | None,
    column: _ProfiledColumn,
    decimal: DecimalMark | None,
    *,
    has_alternatives: bool,
) -> float:
    if inferred is not None:
        return inferred.confidence
    is_open = has_alternatives and column.type == "number" and decimal is None
    return MAX_OPEN_CONFIDENCE if is_open else 1.0


def _plain_examples(column: _ProfiledColumn, cells: Sequence[str]) -> tuple[CellExample, ...]:
    if column.type in ("number", "integer"):
        return _parse_cells(number_parser(".", ""), cells)
    return tuple(CellExample(cell=cell, value=cell) for cell in cells)


def _parser_of_rule(rule: str) -> dict[str, Any] | None:
    """The parser that gives raw cells the values of a conversion rule; None for plain spellings."""
    for option, (decimal, group) in _RULE_FORMATS.items():
        if option.name == rule:
            return number_parser(decimal, group)
    return date_rule_parser(rule)


def _parse_cells(parser: Mapping[str, Any], cells: Sequence[str]) -> tuple[CellExample, ...]:
    """Examples of the cells that the parser can parse."""
    if not cells:
        return ()
    (column_parser,) = validate_parsers([{**parser, "columns": ["cell"]}])
    values = column_parser.parse(pd.Series(list(cells), name="cell", dtype="str"))
    return tuple(
        CellExample(cell=cell, value=to_json_scalar(_as_integer(value)))
        for cell, value in zip(cells, values, strict=True)
        if pd.notna(value)
    )


def _as_integer(value: object) -> object:
    # From 2**53 floats skip whole numbers, so the integer would show digits that the cell did not have.
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _alternatives(
    column: _ProfiledColumn, parser: Mapping[str, Any] | None, cells: Sequence[str]
) -> tuple[AlternativeReading, ...]:
    """Readings with the other decimal mark or the other order, that fit every example cell and change one."""
    options: list[tuple[ReadingChoice, dict[str, Any]]] = []
    op = parser["op"] if parser else None
    if op != "read_date" and not any(OPEN_MARK.search(cell) for cell in cells):
        return ()  # no separator has two meanings: spares most columns the parsing of examples
    if op == "read_date" and parser and not parser.get("epoch"):
        day_first = not parser["day_first"]
        options.append(("day_first" if day_first else "month_first", {**parser, "day_first": day_first}))
    elif op == "read_number" and parser:
        decimal = "." if parser.get("decimal") == "," else ","
        options.append(_number_option(decimal, parser))
    elif op is None and column.type in ("number", "text"):
        options += [_number_option(mark, {}) for mark in ((",",) if column.type == "number" else (".", ","))]
    present = _parse_cells(parser or number_parser(".", ""), cells)
    alternatives = []
    for choice, option in options:
        examples = _parse_cells(option, cells)
        if _is_proven(op, cells):
            continue
        # A reading that gives the same values is no alternative to choose.
        if examples and len(examples) == len(cells) and _differ(present, examples):
            alternatives.append(AlternativeReading(choice=choice, examples=examples))
    return tuple(alternatives)


def _is_proven(op: str | None, cells: Sequence[str]) -> bool:
    """Test whether a cell shows the order of day and month."""
    return op == "read_date" and any(
        max(map(int, match.groups())) > 12 for cell in cells if (match := _DAY_MONTH.match(cell))
    )


def _number_option(decimal: str, parser: Mapping[str, Any]) -> tuple[ReadingChoice, dict[str, Any]]:
    group = "," if decimal == "." else "."
    choice: ReadingChoice = "decimal_point" if decimal == "." else "decimal_comma"
    return choice, {"op": "read_number", **parser, "decimal": decimal, "group": group}


def _differ(first: Sequence[CellExample], second: Sequence[CellExample]) -> bool:
    return [example.value for example in first] != [example.value for example in second]
