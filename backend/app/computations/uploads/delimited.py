"""Delimited text, read once by DuckDB as the types that its beginning shows, and again if that misled."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from app.computations.uploads import sql
from app.computations.uploads.column_types import (
    MISSING,
    MISSING_MEASURES,
    READINGS,
    TEXT,
    Reading,
    Verdict,
    ambiguous,
    judge,
)
from app.computations.uploads.dialect import Dialect, sniff
from app.computations.uploads.encoding import Text
from app.computations.uploads.names import mend_names
from app.errors import InvalidInput, LabError, TooLarge

_SAMPLES = (1 << 20, 48 << 20)
_SAMPLE_ROWS = 5_000
_LINE_BYTES = (2 << 20, 32 << 20)

Write = Callable[[sql.Table], int]
"""Writes the table and gives its rows; lets DuckDB's errors through."""


@dataclass(frozen=True)
class _Reading:
    """One way to read the file; tried until one holds."""

    path: Path
    dialect: Dialect
    names: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    pad: bool = False
    parallel: bool = True
    line_bytes: int = _LINE_BYTES[0]

    @property
    def source(self) -> str:
        """Every cell as text."""
        dialect = self.dialect
        columns = ", ".join(f"{sql.name(name)}: 'VARCHAR'" for name in self.names)
        missing = ", ".join(sql.text(token) for token in MISSING)
        return (
            f"read_csv({sql.text(self.path)}, auto_detect=false, columns={{{columns}}}, nullstr=[{missing}],"
            f" delim={sql.text(dialect.delimiter)}, quote={sql.text(dialect.quote)},"
            f" escape={sql.text(dialect.escape)}, header={dialect.header}, skip={dialect.skip},"
            f" null_padding={self.pad}, parallel={self.parallel}, max_line_size={self.line_bytes})"
        )

    @property
    def select(self) -> str:
        cells = (
            f"{_typed(name, verdict)} AS {sql.name(name)}"
            for name, verdict in zip(self.names, self.verdicts, strict=True)
        )
        return f"SELECT {', '.join(cells)} FROM {self.source}"  # noqa: S608 - every part is quoted above


def write_delimited(
    connection: duckdb.DuckDBPyConnection,
    source: Text,
    write: Write,
    delimiter: str | None = None,
) -> tuple[sql.Table, int]:
    """The table as it was written, and its rows. Raises InvalidInput naming the line that does not fit."""
    for size in _SAMPLES:
        sample, whole = _sample(source.path, size)
        if not sample.strip():
            raise InvalidInput("empty_file", "The file has no text in it.")
        dialect, rows = sniff(sample, whole, delimiter)
        if rows or whole:
            break
    if not rows and not whole:
        raise _line_too_long()
    if not rows:
        raise InvalidInput(
            "no_rows", "The file has a header and no rows below it.", columns=list(dialect.names)
        )
    names, notes = mend_names(dialect.names)
    verdicts = _judge_sample(names, rows[:_SAMPLE_ROWS], dialect)
    return _settle(
        connection, _Reading(source.path, dialect, tuple(names), verdicts), [*source.notes, *notes], write
    )


def _sample(path: Path, size: int) -> tuple[str, bool]:
    """The text's beginning, and whether that is all of it."""
    with path.open(encoding="utf-8", newline="") as file:
        return file.read(size), not file.read(1)


def _judge_sample(names: Sequence[str], rows: Sequence[Sequence[str]], dialect: Dialect) -> tuple[Verdict, ...]:
    comma = dialect.delimiter != ","
    return tuple(
        judge(name, [row[n] for row in rows if n < len(row) and row[n].strip() not in MISSING], comma)
        for n, name in enumerate(names)
    )


def _settle(
    connection: duckdb.DuckDBPyConnection, reading: _Reading, notes: list[str], write: Write
) -> tuple[sql.Table, int]:
    """Write, mend what the error names, and write again; each repair is made once at most."""
    rejudged = False
    while True:
        table = _table(reading, notes)
        try:
            if rows := write(table):
                return table, rows
            # There are rows, or nothing would have been sniffed: DuckDB drops a line larger than its buffer.
            reading = _longer_lines(reading)
        except duckdb.OutOfMemoryException as error:
            raise TooLarge("too_large_to_read", "The file needs more memory than reading may take.") from error
        except duckdb.Error as error:
            problem = str(error)
            if "Expected Number of Columns" in problem:
                reading, note = _pad(reading, problem)
                notes = [*notes, note]
            elif "Maximum line size" in problem:
                reading = _longer_lines(reading)
            elif _needs_one_thread(problem) and reading.parallel:
                reading = replace(reading, parallel=False)
            elif rejudged or not _is_conversion(problem):
                raise _unreadable(problem) from error
            else:
                reading, rejudged = _rejudge(connection, reading), True


def _needs_one_thread(problem: str) -> bool:
    return "parallel=false" in problem or "Parallel CSV Reader" in problem


def _table(reading: _Reading, notes: Sequence[str]) -> sql.Table:
    columns = [
        {"name": name, "type": verdict.reading.type}
        for name, verdict in zip(reading.names, reading.verdicts, strict=True)
    ]
    dialect = reading.dialect
    decimal = "," if any(verdict.reading.name == "decimal comma" for verdict in reading.verdicts) else "."
    sniffed = {
        "kind": "csv",
        "delimiter": dialect.delimiter,
        "quote": dialect.quote,
        "header": dialect.header,
        "decimal": decimal,
        "skipped_lines": dialect.skip,
        "readings": {
            name: verdict.reading.name
            for name, verdict in zip(reading.names, reading.verdicts, strict=True)
            if verdict.reading.type == "datetime"
        },
    }
    said = [verdict.note for verdict in reading.verdicts if verdict.note]
    return sql.Table(reading.select, columns, sniffed, (*notes, *said))


def _typed(name: str, verdict: Verdict) -> str:
    blanks = verdict.blanks and verdict.reading is not TEXT
    return verdict.reading.sql.replace("{c}", _present(name) if blanks else sql.name(name))


def _present(name: str) -> str:
    """The cell without the words that mean missing in a column of measures."""
    tokens = ", ".join(sql.text(token) for token in MISSING_MEASURES)
    return f"(CASE WHEN trim({sql.name(name)}) IN ({tokens}) THEN NULL ELSE {sql.name(name)} END)"


def _pad(reading: _Reading, problem: str) -> tuple[_Reading, str]:
    line, expected, found = (
        int(match[1]) if (match := re.search(pattern, problem)) else 0
        for pattern in (r"Error on Line: (\d+)", r"Number of Columns: (\d+)", r"Found: (\d+)")
    )
    if reading.pad or found > expected:
        raise InvalidInput(
            "ragged_rows",
            f"Line {line} has {found} fields where the table has {expected}; quote fields that hold the"
            f" delimiter {reading.dialect.delimiter!r}, or repair the line.",
            line=line,
            expected=expected,
            found=found,
        )
    note = (
        f"Some rows are shorter than {expected} fields (the first is line {line}); what they lack is missing."
    )
    return replace(reading, pad=True), note


def _longer_lines(reading: _Reading) -> _Reading:
    if reading.line_bytes == _LINE_BYTES[-1]:
        raise _line_too_long()
    return replace(reading, line_bytes=_LINE_BYTES[-1])


def _line_too_long() -> InvalidInput:
    return InvalidInput(
        "line_too_long",
        f"A line is longer than {_LINE_BYTES[-1]:,} bytes; a quote that is never closed does that too.",
    )


def _rejudge(connection: duckdb.DuckDBPyConnection, reading: _Reading) -> _Reading:
    """Judge columns by all their values: one more pass over the file."""
    suspects = [
        (name, verdict)
        for name, verdict in zip(reading.names, reading.verdicts, strict=True)
        if verdict.reading is not TEXT
    ]
    asked = [(name, option) for name, verdict in suspects for option in _alternatives(verdict.reading)]
    counts = ", ".join(_failures(name, option) for name, option in asked)
    found = connection.execute(f"SELECT {counts} FROM {reading.source}").fetchone() or ()  # noqa: S608
    failures = {(name, option): found[2 * n : 2 * n + 2] for n, (name, option) in enumerate(asked)}
    mended = {name: _decide(name, verdict, failures) for name, verdict in suspects}
    return replace(
        reading,
        verdicts=tuple(
            mended.get(name, verdict) for name, verdict in zip(reading.names, reading.verdicts, strict=True)
        ),
    )


def _failures(name: str, option: Reading) -> str:
    """SQL: how many values of a column a reading cannot take, and one of them."""
    cell = _present(name)
    wrong = (
        f"{cell} IS NOT NULL AND (NOT regexp_full_match({cell}, {sql.text(option.pattern)})"
        f" OR {option.attempt.replace('{c}', cell)} IS NULL)"
    )
    return f"count(*) FILTER ({wrong}), any_value({cell}) FILTER ({wrong})"


def _alternatives(reading: Reading) -> list[Reading]:
    """Readings of the same family, narrowest first."""
    family = {"integer": ("integer", "number"), "number": ("number",)}.get(reading.type, (reading.type,))
    return [option for option in READINGS if option.type in family]


def _decide(
    name: str, verdict: Verdict, failures: dict[tuple[str, Reading], tuple[int, str | None]]
) -> Verdict:
    options = _alternatives(verdict.reading)
    possible = [option for option in options if failures[name, option][0] == 0]
    if possible and not ambiguous(possible):
        return Verdict(possible[0], MISSING_MEASURES)
    count, example = failures[name, verdict.reading]
    return Verdict(
        TEXT,
        note=f"{name}: {count:,} values are no {verdict.reading.name} (for example {str(example)[:40]!r});"
        " kept as text.",
    )


def _is_conversion(problem: str) -> bool:
    return "onversion Error" in problem or "Could not" in problem or "Out of Range" in problem


def _unreadable(problem: str) -> LabError:
    if "unterminated quote" in problem:
        line = re.search(r"Error on Line: (\d+)", problem)
        where = f"On line {line[1]} a" if line else "A"
        return InvalidInput("open_quote", f"{where} quote is opened and never closed.")
    first = problem.split("Possible", 1)[0].strip().splitlines()
    return InvalidInput("unreadable_table", f"The table cannot be read: {' '.join(first)[:300]}")
