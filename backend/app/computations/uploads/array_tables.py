"""Conversion of JSON arrays of arrays, as exchanges send them."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import duckdb

from app.computations.uploads import sql
from app.computations.uploads.column_names import check_width
from app.computations.uploads.json_faults import broken_json
from app.errors import InvalidInput

_HEAD = 64 << 10
"""Bytes in which the form must show: large files are not read twice to recognise them."""
_OBJECT_BYTES = 64 << 20
_DEPTH = 3
"""Levels of nested objects that are searched for rows, as in `{"data": {"rows": [...]}}`."""
_MIN_FIELDS = 2
"""Fields of a row: a list of lists of one value is no table."""


def arrays_as_csv(connection: duckdb.DuckDBPyConnection, path: Path, work: Path) -> Path | None:
    """Convert `[[1, 2], [3, 4]]`, or an object that holds it, to CSV without a header; None for other JSON."""
    with path.open(encoding="utf-8") as file:
        head = file.read(_HEAD).lstrip()
    target = work / "arrays.csv"
    if re.match(r"\[\s*\[", head):
        return _rows_to_csv(connection, path, target)
    if head.startswith("{") and re.search(r":\s*\[\s*\[", head) and path.stat().st_size <= _OBJECT_BYTES:
        return _wrapped_to_csv(path, target)
    return None


def _rows_to_csv(connection: duckdb.DuckDBPyConnection, path: Path, target: Path) -> Path:
    source = (
        f"read_json({sql.text(path)}, format='array', records=false, columns={{'row': 'JSON'}},"
        f" maximum_object_size={_OBJECT_BYTES})"
    )
    try:
        first = connection.execute(f"SELECT json_array_length(row) FROM {source} LIMIT 1").fetchone()  # noqa: S608
        width = int(first[0]) if first else 0
        check_width(width)
        # As text, whose types are inferred like those of any CSV file.
        cells = ", ".join(f"row->>{at} AS column_{at + 1}" for at in range(width))
        connection.execute(
            f"COPY (SELECT {cells} FROM {source}) TO {sql.text(target)} (FORMAT csv, HEADER false)"  # noqa: S608
        )
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        message = str(error).splitlines()[0].replace(str(path), "the file")[:300]
        raise InvalidInput("damaged_file", f"The JSON file cannot be read: {message}") from error
    return target


def _wrapped_to_csv(path: Path, target: Path) -> Path | None:
    try:
        rows = _longest(json.loads(path.read_text(encoding="utf-8")), _DEPTH)
    except (ValueError, RecursionError) as error:
        raise broken_json(error) from error
    if not rows:
        return None
    check_width(max(map(len, rows)))
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return target


def _longest(value: Any, depth: int) -> list[list[Any]]:
    """Find the longest list of flat lists under the keys of nested objects."""
    if isinstance(value, list):
        flat = all(
            isinstance(row, list)
            and len(row) >= _MIN_FIELDS
            and not any(isinstance(cell, list | dict) for cell in row)
            for row in value
        )
        return value if value and flat else []
    if not isinstance(value, dict) or not depth:
        return []
    return max((_longest(inner, depth - 1) for inner in value.values()), key=len, default=[])
