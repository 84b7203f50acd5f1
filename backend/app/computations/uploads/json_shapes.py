"""Tables inside JSON objects, recognised by their structure: lists of records, records by key or by column."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.errors import InvalidInput

MAX_DOCUMENT_BYTES = 16 << 20
"""Size of an object that is parsed in Python, where it takes ten times as much; DuckDB reads larger ones."""
MAX_DEPTH = 4
"""Levels that are searched for records, as in `{"result": {"data": {"records": [...]}}}`."""
MIN_COMMON_SHARE = 0.5
"""Share of the fields of all records that a record has on average: fewer are parts of one object."""
MIN_KEYED = 2
"""Objects that are records by key."""
INDEX_NAME = "index"
"""Column of the keys of records."""
_HEADERS = ("columns", "fields", "header", "headers", "names", "cols")
"""Members that name the columns of rows beside them, the usual ones first."""
Record = Mapping[str, Any]


@dataclass(frozen=True)
class JsonRecords:
    """A JSON file of records, with notes on how they were found in another file."""

    path: Path
    notes: tuple[str, ...] = ()


def records_as_json(path: Path, work: Path) -> JsonRecords | None:
    """Write the records that an object holds as a list of objects; None where the file is one already.

    Raises InvalidInput for damaged JSON.
    """
    if path.stat().st_size > MAX_DOCUMENT_BYTES:
        return None
    text = path.read_text(encoding="utf-8")
    if not text.lstrip().startswith("{"):
        return None
    try:
        document, end = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError) as error:
        raise InvalidInput("damaged_file", f"The JSON file cannot be read: {str(error)[:300]}") from error
    if text.lstrip()[end:].strip():
        return None  # an object per line
    records, notes = _find_records(document)
    if records is None:
        return None
    target = work / "records.json"
    target.write_text(json.dumps(records), encoding="utf-8")
    return JsonRecords(target, notes)


def _find_records(document: Record) -> tuple[Sequence[Record] | None, tuple[str, ...]]:
    lists = sorted(_record_lists(document, (), MAX_DEPTH), key=lambda item: -len(item[1]))
    if lists:
        (keys, records), others = lists[0], lists[1:]
        if len(keys) == 1 and not others:
            return None, ()  # the reader of JSON unpacks it
        note = f"The rows are those of {'.'.join(keys)}"
        names = [f"{'.'.join(other)} ({len(rows):,})" for other, rows in others[:3]]
        return records, (f"{note}, not of {', '.join(names)}." if names else f"{note}.",)
    if rows := _named_rows(document, MAX_DEPTH):
        return rows, ()
    return _keyed_records(document, MAX_DEPTH), ()


def _record_lists(
    value: Any, keys: tuple[str, ...], depth: int
) -> Iterator[tuple[tuple[str, ...], list[Record]]]:
    """Yield lists of objects under the keys of nested objects, with these keys."""
    for key, inner in value.items() if isinstance(value, dict) and depth else ():
        if isinstance(inner, list) and inner and all(isinstance(row, dict) for row in inner):
            yield (*keys, key), inner
        # A schema, as pandas' `orient="table"` writes it, describes the columns.
        elif key != "schema":
            yield from _record_lists(inner, (*keys, key), depth - 1)


def _named_rows(value: Any, depth: int) -> list[Record]:
    """Rows as lists beside a list of the names of their columns, as pandas' `orient="split"` writes them."""
    if not isinstance(value, dict) or not depth:
        return []
    for rows in value.values():
        if isinstance(rows, list) and rows and all(isinstance(row, list) for row in rows):
            width = len(rows[0])
            names = next((value[key] for key in _HEADERS if _are_names(value.get(key), width)), None)
            if names and all(len(row) == width for row in rows):
                return [dict(zip(names, row, strict=True)) for row in rows]
    return next((rows for inner in value.values() if (rows := _named_rows(inner, depth - 1))), [])


def _are_names(value: Any, width: int) -> bool:
    is_list = isinstance(value, list) and len(value) == width and all(isinstance(name, str) for name in value)
    return is_list and len(set(value)) == width


def _keyed_records(value: Any, depth: int) -> list[Record] | None:
    """Records by key (`{"NL": {...}, "BE": {...}}`), or columns by key with cells by row (pandas' own)."""
    if not isinstance(value, dict) or not depth:
        return None
    if len(value) >= MIN_KEYED and all(_is_record(row) for row in value.values()) and _have_fields(value):
        return (
            _by_row(value) if _are_columns(value) else [{INDEX_NAME: key, **row} for key, row in value.items()]
        )
    inner = [member for member in value.values() if isinstance(member, dict)]
    return _keyed_records(inner[0], depth - 1) if len(inner) == 1 else None


def _is_record(row: Any) -> bool:
    return (
        isinstance(row, dict) and bool(row) and not any(isinstance(cell, dict | list) for cell in row.values())
    )


def _have_fields(value: Record) -> bool:
    """Test whether objects have most of their fields in common, and so are records of one table."""
    fields = {name for row in value.values() for name in row}
    return sum(map(len, value.values())) >= MIN_COMMON_SHARE * len(fields) * len(value)


def _are_columns(value: Record) -> bool:
    """Test for columns whose cells stand by row: the inner keys count rows, or each column has one type."""
    inner = [name for row in value.values() for name in row]
    if all(map(str.isdigit, value)):
        return False
    if all(map(str.isdigit, inner)):
        return True
    kinds = [{type(cell) is str for cell in row.values() if cell is not None} for row in value.values()]
    has_words = len(set().union(*kinds)) > 1
    return has_words and all(len(kind) <= 1 for kind in kinds)


def _by_row(value: Record) -> list[Record]:
    keys = list(dict.fromkeys(key for column in value.values() for key in column))
    is_counted = keys == [str(place) for place in range(len(keys))]
    index = [{} if is_counted else {INDEX_NAME: key} for key in keys]
    return [
        {**first, **{name: column.get(key) for name, column in value.items()}}
        for first, key in zip(index, keys, strict=True)
    ]
