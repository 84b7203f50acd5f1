"""Tables inside JSON objects, recognised by their structure: rows beside names, records by key or by column."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from app.computations.uploads.json_faults import broken_json
from app.computations.uploads.json_paths import MAX_DEPTH, SCHEMA_KEY
from app.errors import TooLarge
from app.modeling.type_inference.vocabulary import is_missing_word

MAX_DOCUMENT_BYTES = 16 << 20
"""Size of an object that is parsed in Python, where it takes ten times as much; DuckDB reads larger ones."""
MIN_COMMON_SHARE = 0.5
"""Share of the fields of all records that a record has on average: fewer are parts of one object."""
MIN_KEYED = 2
"""Objects that are records by key."""
_INDEX_NAMES = ("index", "key", "row_key")
"""Column of the keys of records, the first name that no field has."""
_HEADERS = ("columns", "fields", "header", "headers", "names", "cols")
"""Members that name the columns of rows beside them, the usual ones first."""
Record = Mapping[str, Any]


def records_as_json(path: Path, work: Path) -> Path | None:
    """Write the records that an object holds by name or by key as a list of objects; None for other files.

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
        raise broken_json(error) from error
    if text.lstrip()[end:].strip():
        return None  # an object per line
    records = _find_records(document)
    if records is None:
        return None
    target = work / "records.json"
    target.write_text(json.dumps(records), encoding="utf-8")
    return target


def check_document_size(path: Path) -> None:
    """Refuse an object that is one row, where it is too large to be searched for records of other forms."""
    if path.stat().st_size > MAX_DOCUMENT_BYTES:
        raise TooLarge(
            "too_large_to_read",
            f"The file is one JSON object of more than {MAX_DOCUMENT_BYTES >> 20} MiB without a list of"
            " records: send its rows as a list of objects.",
            limit=MAX_DOCUMENT_BYTES,
        )


def _find_records(document: Record) -> Sequence[Record] | None:
    if _has_record_list(document, MAX_DEPTH):
        return None  # the reader of JSON finds the longest, in files of any size
    return _named_rows(document, MAX_DEPTH) or _keyed_records(document, MAX_DEPTH)


def _has_record_list(value: Any, depth: int) -> bool:
    """Test for a list of objects under the keys of nested objects, as `list_paths` searches them."""
    return any(
        (isinstance(inner, list) and inner and all(isinstance(row, dict) for row in inner))
        or (key != SCHEMA_KEY and _has_record_list(inner, depth - 1))
        for key, inner in (value.items() if isinstance(value, dict) and depth else ())
    )


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
        return _by_row(value) if _are_columns(value) else _by_key(value)
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
    # A word for a missing value stands among numbers too.
    kinds = [
        {isinstance(cell, str) for cell in row.values() if cell is not None and not is_missing_word(str(cell))}
        for row in value.values()
    ]
    has_words = len(set().union(*kinds)) > 1
    return has_words and all(len(kind) <= 1 for kind in kinds)


def _by_key(value: Record) -> list[Record]:
    index = _index_name(name for row in value.values() for name in row)
    return [{index: key, **row} for key, row in value.items()]


def _by_row(value: Record) -> list[Record]:
    keys = list(dict.fromkeys(key for column in value.values() for key in column))
    is_counted = keys == [str(place) for place in range(len(keys))]
    name = _index_name(value)
    index = [{} if is_counted else {name: key} for key in keys]
    return [
        {**first, **{name: column.get(key) for name, column in value.items()}}
        for first, key in zip(index, keys, strict=True)
    ]


def _index_name(fields: Iterable[str]) -> str:
    used_names = {field.casefold() for field in fields}
    numbered = (f"{_INDEX_NAMES[0]}_{number}" for number in count(2))
    return next(name for name in chain(_INDEX_NAMES, numbered) if name not in used_names)
