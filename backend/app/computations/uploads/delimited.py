"""Delimited text, read once by DuckDB as the types of its beginning, and again if later rows do not fit."""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import duckdb

from app.computations.uploads import sql
from app.computations.uploads.cell_sql import present_cell
from app.computations.uploads.column_names import mend_names
from app.computations.uploads.column_types import (
    COMMA,
    MAX_EXAMPLE_CHARS,
    NUMBER,
    TEXT,
    TYPE_RULES,
    TypeChoice,
    TypeRule,
    choose_by_file,
    choose_type,
    has_open_mark,
    is_order_unclear,
    note_open_mark,
)
from app.computations.uploads.country_codes import NAMIBIA, are_countries
from app.computations.uploads.dialect import Dialect, sniff
from app.computations.uploads.encoding import Text
from app.computations.uploads.header_notes import describe_lower_rows, describe_titles
from app.computations.uploads.non_data_rows import find_footer
from app.computations.uploads.side_rows import describe_side_rows, find_side_rows
from app.computations.uploads.trimmed_file import trim_file, write_rows
from app.errors import InvalidInput, LabError, TooLarge
from app.modeling.type_inference.conventions import Conventions, infer_conventions
from app.modeling.type_inference.vocabulary import MISSING_WORDS, NULL_TOKENS
from app.plans.identifiers import quote_identifier

_SAMPLE_CHARS = (1 << 20, 48 << 20)
"""Characters of the sample; the larger one holds the longest line that may be read."""
_SAMPLE_ROWS = 5_000
"""Rows that types are chosen by: so many that a second pass is rare."""
_EXAMPLE_ROWS = 200
"""Rows that examples of cells are taken from, as in a profile."""
_MAX_EXAMPLES = 5
"""Example cells of a column, as many as a profile lists."""
_LINE_BYTES = (2 << 20, 32 << 20)
"""Bytes of a line: DuckDB's own limit, and one for long texts, tried last: buffers grow with it."""

Write = Callable[[sql.SourceTable], int]
"""Writes the table and returns its rows; lets DuckDB's errors through."""


@dataclass(frozen=True)
class _ReadPlan:
    """Settings of one attempt to read the file."""

    path: Path
    dialect: Dialect
    names: tuple[str, ...]
    choices: tuple[TypeChoice, ...]
    cells: tuple[tuple[str, ...], ...] = ()
    """The first distinct cells of each column as written, for examples."""
    conventions: Conventions = field(default_factory=Conventions)
    country_names: tuple[str, ...] = ()
    """Columns of codes of countries: `NA` is missing in the others only."""
    open_names: tuple[str, ...] = ()
    """Columns of numbers whose separators have two meanings."""
    pad: bool = False
    parallel: bool = True
    line_bytes: int = _LINE_BYTES[0]
    has_header_line: bool = False
    """The file at `path` begins with a header of one line: one of several lines was cut off."""
    cut_lines: int = 0
    """Lines of the original file before that at `path`."""
    is_plain: bool = False
    """The file at `path` has been written again with commas and double quotes."""
    counted_rows: int | None = None
    """Rows that must be written, where the sample is the complete file."""

    @property
    def source(self) -> str:
        """SQL of the rows, every cell as text."""
        # DuckDB's own detection would change values: it reads 007 as 7.
        dialect = Dialect(",") if self.is_plain else self.dialect
        columns = ", ".join(f"{quote_identifier(name)}: 'VARCHAR'" for name in self.names)
        tokens = [token for token in NULL_TOKENS if not self.country_names or token != NAMIBIA]
        nulls = ", ".join(map(sql.text, tokens))
        return (
            f"read_csv({sql.text(self.path)}, auto_detect=false, columns={{{columns}}}, nullstr=[{nulls}],"
            f" delim={sql.text(dialect.delimiter)}, quote={sql.text(dialect.quote)},"
            f" escape={sql.text(dialect.escape)}, header={self.has_header_line}, skip=0,"
            f" null_padding={self.pad}, parallel={self.parallel}, max_line_size={self.line_bytes})"
        )

    @property
    def select(self) -> str:
        cells = (
            f"{_typed_cell(self._cell(name), choice)} AS {quote_identifier(name)}"
            for name, choice in zip(self.names, self.choices, strict=True)
        )
        return f"SELECT {', '.join(cells)} FROM {self.source}"  # noqa: S608 - every part is quoted above

    def _cell(self, name: str) -> str:
        cell = quote_identifier(name)
        is_missing = self.country_names and name not in self.country_names
        return f"nullif({cell}, {sql.text(NAMIBIA)})" if is_missing else cell

    @property
    def cells_select(self) -> str:
        """SQL of the columns that have a second reading, as written; empty if there are none."""
        names = [quote_identifier(name) for name in self.open_names]
        return f"SELECT {', '.join(names)} FROM {self.source}" if names else ""  # noqa: S608 - quoted above


def write_delimited(
    connection: duckdb.DuckDBPyConnection,
    source: Text,
    write: Write,
    work: Path,
    delimiter: str | None = None,
) -> tuple[sql.SourceTable, int]:
    """Write the table; return it with its rows.

    `work`: folder for a copy without notes at the end. Raises InvalidInput naming the line that does not fit.
    """
    for size in _SAMPLE_CHARS:
        sample, is_complete = _sample(source.path, size)
        if not sample.strip():
            raise InvalidInput("empty_file", "The file has no text in it.")
        dialect, rows = sniff(sample, is_complete, delimiter)
        if rows or is_complete:
            break
    if not rows and not is_complete:
        raise _line_too_long()
    if not rows:
        raise InvalidInput(
            "no_rows", "The file has a header and no rows below it.", columns=list(dialect.names)
        )
    names, notes = mend_names(dialect.names)
    notes = [*describe_titles(dialect), *notes]
    footer = find_footer(source.path, dialect.delimiter, dialect.quote, rows, is_complete=is_complete)
    if footer:
        rows = rows[: -footer.rows] if is_complete else rows
        notes = [*notes, footer.note]
    side = find_side_rows(dialect.names, rows) if is_complete else []
    if side:
        notes = [*notes, describe_side_rows(side, rows)]
        places = {row.place for row in side}
        rows = [row for place, row in enumerate(rows) if place not in places]
    file = trim_file(source.path, work / "trimmed", sample, dialect.head_chars, footer)
    notes = [*notes, *describe_lower_rows(dialect, names)]
    plan = replace(
        _plan(file.path, dialect, names, rows[:_SAMPLE_ROWS]),
        has_header_line=file.has_header_line,
        cut_lines=file.cut_lines,
        # Blank lines are rows of a single column, and none of other tables.
        counted_rows=len(rows) if is_complete and len(names) > 1 else None,
    )

    def write_plain() -> Path:
        return write_rows(work / "rows", rows)

    if side:
        plan = _plain_csv(plan, write_plain())
    return _write_with_repairs(connection, plan, [*source.notes, *notes], write, write_plain)


def _sample(path: Path, size: int) -> tuple[str, bool]:
    """Read the first `size` characters; return them, and whether they are the complete text."""
    with path.open(encoding="utf-8", newline="") as file:
        return file.read(size), not file.read(1)


def _plan(path: Path, dialect: Dialect, names: Sequence[str], rows: Sequence[Sequence[str]]) -> _ReadPlan:
    """Choose the types of all columns, of columns that are not decisive by the conventions of the file."""
    comma = dialect.delimiter != ","
    cells = {
        name: [row[n] for row in rows if n < len(row) and row[n] not in NULL_TOKENS]
        for n, name in enumerate(names)
    }
    plain = {name: choose_type(name, values, comma) for name, values in cells.items()}
    conventions = infer_conventions(
        {name: values for name, values in cells.items() if not plain[name].is_final}, is_comma_free=comma
    )
    choices = tuple(choose_by_file(name, choice, cells[name], conventions) for name, choice in plain.items())
    examples = tuple(_examples(values) for values in cells.values())
    open_names = tuple(
        name
        for (name, values), choice in zip(cells.items(), choices, strict=True)
        if not (choice.rule is NUMBER and conventions.decimal == ".") and has_open_mark(choice.rule, values)
    )
    choices = tuple(
        note_open_mark(name, choice, cells[name])
        if name in open_names and conventions.decimal is None
        else choice
        for name, choice in zip(names, choices, strict=True)
    )
    countries = {
        name: any(row[n] == NAMIBIA for row in rows if n < len(row))
        for n, name in enumerate(names)
        if are_countries(cells[name])
    }
    choices = tuple(
        replace(choice, note=f"{name}: NA is the code of Namibia.") if countries.get(name) else choice
        for name, choice in zip(names, choices, strict=True)
    )
    return _ReadPlan(path, dialect, tuple(names), choices, examples, conventions, tuple(countries), open_names)


def _examples(cells: Sequence[str]) -> tuple[str, ...]:
    """The first distinct cells, those with a separator before others."""
    first = dict.fromkeys(cell.strip() for cell in cells[:_EXAMPLE_ROWS])
    return tuple(sorted(first, key=lambda cell: not any(mark in cell for mark in ".,/"))[:_MAX_EXAMPLES])


def _write_with_repairs(
    connection: duckdb.DuckDBPyConnection,
    plan: _ReadPlan,
    notes: list[str],
    write: Write,
    write_plain: Callable[[], Path],
) -> tuple[sql.SourceTable, int]:
    """Write, change the plan as an error requires, and write again; each change is made once at most.

    `write_plain` writes the rows of a complete sample as plain CSV.
    """
    has_checked_all_rows = False
    while True:
        table = _source_table(plan, notes)
        try:
            rows = write(table)
            if plan.counted_rows not in (None, rows):
                # DuckDB's reader and Python's part ways, at line ends of two kinds for example.
                plan = _plain_csv(plan, write_plain())
            elif rows:
                return table, rows
            else:
                # There are rows, or nothing would have been sniffed: DuckDB drops a line beyond its buffer.
                plan = _allow_longer_lines(plan)
        except duckdb.OutOfMemoryException as error:
            raise TooLarge("too_large_to_read", "The file needs more memory than reading may take.") from error
        except duckdb.Error as error:
            message = str(error)
            if "Expected Number of Columns" in message:
                plan, note = _pad_rows(plan, message)
                notes = [*notes, note]
            elif "invalid state" in message and plan.counted_rows is not None:
                plan = _plain_csv(plan, write_plain())
            elif repaired := _change_settings(plan, message):
                plan = repaired
            elif has_checked_all_rows or not _is_conversion(message):
                raise _unreadable(message, plan.cut_lines) from error
            else:
                plan, has_checked_all_rows = _choose_by_all_rows(connection, plan), True


def _change_settings(plan: _ReadPlan, message: str) -> _ReadPlan | None:
    """Change the settings of the reader as an error requires; None if no setting helps."""
    if "Maximum line size" in message:
        return _allow_longer_lines(plan)
    if _needs_one_thread(message) and plan.parallel:
        return replace(plan, parallel=False)
    return None


def _plain_csv(plan: _ReadPlan, path: Path) -> _ReadPlan:
    """Read a copy that has no header, one kind of quotes, and one of line ends."""
    return replace(plan, path=path, is_plain=True, has_header_line=False, counted_rows=None)


def _needs_one_thread(message: str) -> bool:
    return "parallel=false" in message or "Parallel CSV Reader" in message


def _source_table(plan: _ReadPlan, notes: Sequence[str]) -> sql.SourceTable:
    rules = {name: choice.rule for name, choice in zip(plan.names, plan.choices, strict=True)}
    dialect = plan.dialect
    format_ = {
        "kind": "csv",
        "delimiter": dialect.delimiter,
        "quote": dialect.quote,
        "header": dialect.header,
        "decimal": plan.conventions.decimal or ("," if COMMA in rules.values() else "."),
        "skipped_lines": dialect.skip,
        "readings": {name: rule.name for name, rule in rules.items() if rule.type == "datetime"},
        "conventions": _conventions_json(plan),
    }
    columns = [{"name": name, "type": rule.type} for name, rule in rules.items()]
    type_notes = [*(choice.note for choice in plan.choices if choice.note), *plan.conventions.notes]
    return sql.SourceTable(plan.select, columns, format_, (*notes, *type_notes), plan.cells_select)


def _conventions_json(plan: _ReadPlan) -> dict[str, object]:
    """The conventions with each column's rule and cells, for `file_reading.read_file`."""
    columns = {
        name: {"rule": choice.rule.name, "cells": list(cells), "note": choice.note}
        for name, choice, cells in zip(plan.names, plan.choices, plan.cells, strict=True)
    }
    return {**asdict(plan.conventions), "columns": columns}


def _typed_cell(cell: str, choice: TypeChoice) -> str:
    # Comparing with every word takes a tenth of the conversion: those of the sample are tried first.
    cleaned = present_cell(cell, choice.missing_words) if choice.missing_words else cell
    return choice.rule.sql.replace("{c}", cleaned)


def _pad_rows(plan: _ReadPlan, message: str) -> tuple[_ReadPlan, str]:
    """Fill short rows; raises InvalidInput for long ones."""
    line, expected, actual = (
        int(match[1]) if (match := re.search(pattern, message)) else 0
        for pattern in (r"Error on Line: (\d+)", r"Number of Columns: (\d+)", r"Found: (\d+)")
    )
    line += plan.cut_lines
    if plan.pad or actual > expected:
        raise InvalidInput(
            "ragged_rows",
            f"Line {line} has more than the {expected} fields of the table; quote fields that hold the"
            f" delimiter {plan.dialect.delimiter!r}, or repair the line.",
            line=line,
            expected=expected,
            found=actual,
        )
    note = f"Some rows have fewer than {expected} fields (the first is line {line}); the rest is missing."
    return replace(plan, pad=True), note


def _allow_longer_lines(plan: _ReadPlan) -> _ReadPlan:
    if plan.line_bytes == _LINE_BYTES[-1]:
        raise _line_too_long()
    return replace(plan, line_bytes=_LINE_BYTES[-1])


def _line_too_long() -> InvalidInput:
    return InvalidInput(
        "line_too_long",
        f"A line is longer than {_LINE_BYTES[-1]:,} bytes; a quote that is never closed does that too.",
    )


Failures = dict[tuple[str, TypeRule], tuple[int, str | None]]
"""Column and rule -> number of values that the rule cannot parse, and one of them."""


def _choose_by_all_rows(connection: duckdb.DuckDBPyConnection, plan: _ReadPlan) -> _ReadPlan:
    """Choose types by all values: one more pass over the file."""
    choices = dict(zip(plan.names, plan.choices, strict=True))
    typed = {name: choice for name, choice in choices.items() if choice.rule is not TEXT}
    tests = [(name, rule) for name, choice in typed.items() for rule in _rules_of_family(choice.rule)]
    counts = ", ".join(_failures_sql(name, rule) for name, rule in tests)
    row = connection.execute(f"SELECT {counts} FROM {plan.source}").fetchone() or ()  # noqa: S608
    failures = {test: (row[2 * n], row[2 * n + 1]) for n, test in enumerate(tests)}
    choices |= {name: _choose(name, choice, failures) for name, choice in typed.items()}
    return replace(plan, choices=tuple(choices.values()))


def _failures_sql(name: str, rule: TypeRule) -> str:
    """SQL of the number of values that a rule cannot parse, and one of them."""
    cell = present_cell(quote_identifier(name))
    fails = (
        f"{cell} IS NOT NULL AND (NOT regexp_full_match({cell}, {sql.text(rule.pattern)})"
        f" OR {rule.attempt.replace('{c}', cell)} IS NULL)"
    )
    return f"count(*) FILTER ({fails}), any_value({cell}) FILTER ({fails})"


def _rules_of_family(rule: TypeRule) -> list[TypeRule]:
    """Rules of the same type, of integers also those of numbers, the narrowest first."""
    family = {"integer": ("integer", "number"), "number": ("number",)}.get(rule.type, (rule.type,))
    options = [option for option in TYPE_RULES if option.type in family]
    return options if rule in options else [*options, rule]


def _choose(name: str, choice: TypeChoice, failures: Failures) -> TypeChoice:
    possible = [rule for rule in _rules_of_family(choice.rule) if failures[name, rule][0] == 0]
    if choice.by_file and choice.rule in possible:
        # Rows beyond the sample may have any of the words.
        return replace(choice, missing_words=MISSING_WORDS)
    if possible and not is_order_unclear(possible):
        return TypeChoice(possible[0], MISSING_WORDS, choice.note)
    count, example = failures[name, choice.rule]
    return TypeChoice(
        TEXT,
        note=f"{name}: {count:,} values are no {choice.rule.name} (for example"
        f" {str(example)[:MAX_EXAMPLE_CHARS]!r}); kept as text.",
    )


def _is_conversion(message: str) -> bool:
    return "onversion Error" in message or "Could not" in message or "Out of Range" in message


def _unreadable(message: str, cut_lines: int) -> LabError:
    if "unterminated quote" in message:
        line = re.search(r"Error on Line: (\d+)", message)
        where = f"On line {int(line[1]) + cut_lines} a" if line else "A"
        return InvalidInput("open_quote", f"{where} quote is opened and never closed.")
    first = message.split("Possible", 1)[0].strip().splitlines()
    return InvalidInput("unreadable_table", f"The table cannot be read: {' '.join(first)[:300]}")
