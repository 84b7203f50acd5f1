"""Records of a JSON answer as a table: nested records are flattened, lists of records are rows."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.queries.next_pages import find_next_page
from app.computations.queries.query import describe_result
from app.errors import InvalidInput
from app.json_types import JsonValue

MAX_RECORDS = 1_000_000
"""Rows of an answer: more do not fit into its 10 MiB."""
MAX_RECORD_COLUMNS = 2_000
"""Columns of flattened records: as many as an upload may have."""
MAX_INTEGER_CHARS = 20
"""Characters of the longest integers of 64 bits, with their sign."""
_ISO_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")


_ENVELOPES = frozenset({"data", "results", "items", "records", "rows", "entries", "values", "hits"})
"""Names under which services send a list of records, beside its number or the place of the next page."""


def read(
    workspace: CellWorkspace, pointer: str = "", rows: int = 50, unwrap: bool = False
) -> dict[str, JsonValue]:
    """Read the JSON of each input at a JSON pointer, and write its rows to result.parquet.

    Inputs are the pages of one answer, in the order of their names. `unwrap`: without a pointer, the list of an
    answer that is nothing but the envelope of one.
    Returns what `query.run_sql` returns, and in `next_page` the name of a member of a single answer that names
    a further page. Raises InvalidInput if the answer is no JSON or has nothing at the pointer.
    """
    names = sorted(workspace.inputs)
    contents = [load(workspace.inputs[name].read_bytes()) for name in names]
    parts = [select_records(content, pointer, unwrap) for content in contents]
    is_single = len(parts) == 1
    frame = to_table(parts[0] if is_single else [record for part in parts for record in list_records(part)])
    target = workspace.output / "result.parquet"
    frame.to_parquet(target, index=False)
    next_page = find_next_page(contents[0], parts[0]) if is_single and unwrap else None
    return describe_result(workspace, target, rows) | {"next_page": next_page}


def inspect_page(workspace: CellWorkspace, pointer: str, next_pointer: str) -> dict[str, JsonValue]:
    """Read where the input `answer` goes on.

    `place`: an input with the answer's own address and its link as JSON, which are returned as `url` and
    `link`. Returns `records`, their number, `digest`, which tells pages apart, `next`, the text or number at
    `next_pointer`, null if there is none, and `next_page` as `read` does.
    """
    content = load(workspace.inputs["answer"].read_bytes())
    part = select_records(content, pointer, unwrap=True)
    records = list_records(part)
    place = None if not next_pointer else _find_or_none(content, next_pointer)
    if isinstance(place, list | Mapping) and place:
        raise InvalidInput("page_unreadable", f"{next_pointer} of the answer is no text and no number.")
    return {
        "records": len(records),
        "digest": hashlib.sha256(json.dumps(records).encode()).hexdigest(),
        # An empty text, false and an empty list stand for no further page, too.
        "next": str(place) if place or (place == 0 and not isinstance(place, bool)) else None,
        "next_page": find_next_page(content, part),
        **json.loads(workspace.inputs["place"].read_bytes()),
    }


def _find_or_none(content: Any, pointer: str) -> Any:
    try:
        return find(content, pointer)
    except InvalidInput:  # the last page often has no such member
        return None


def load(text: bytes) -> Any:
    """Parse an answer. Raises InvalidInput if it is no JSON."""
    try:
        return json.loads(text, parse_int=_read_integer)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("answer_unreadable", "The answer is no JSON.") from error


def select_records(content: Any, pointer: str, unwrap: bool) -> Any:
    """Return the part of an answer that is its table."""
    return open_envelope(content) if unwrap and not pointer else find(content, pointer)


def list_records(part: Any) -> list[Any]:
    """List the records of the part of an answer: a part that is no list is one."""
    return part if isinstance(part, list) else [part]


def _read_integer(digits: str) -> int | float:
    """Read an integer that a column can hold, in 64 bits; others as the nearest number, as JavaScript does."""
    if len(digits) > MAX_INTEGER_CHARS:  # before Python reads it, which takes long or is refused
        return float(digits)
    value = int(digits)
    return value if -(2**63) <= value < 2**63 else float(digits)


def find(content: Any, pointer: str) -> Any:
    """Return the part at a JSON pointer (RFC 6901). Raises InvalidInput that names the parts that there are."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(content, Mapping) and key in content:
            content = content[key]
        elif isinstance(content, list) and key.isdigit() and int(key) < len(content):
            content = content[int(key)]
        else:
            names = ", ".join(map(str, list(content)[:20])) if isinstance(content, Mapping) else "no names"
            raise InvalidInput("answer_unreadable", f"The answer has no part {key}: it has {names}.")
    return content


def open_envelope(content: Any) -> Any:
    """Return the only list of records of an object that has no other member, or a usual name for it.

    An empty list is one, too, so that an answer without records has no rows. Anything else stays as it is.
    """
    if not isinstance(content, Mapping):
        return content
    names = [
        name
        for name, value in content.items()
        if (len(content) == 1 or name in _ENVELOPES)
        and isinstance(value, list)
        and all(isinstance(record, Mapping) for record in value)
    ]
    return content[names[0]] if len(names) == 1 else content


def to_table(content: Any) -> pd.DataFrame:
    """Make a table of a list of records, of one record, or of a list of values. Raises InvalidInput."""
    records = content if isinstance(content, list) else [content]
    if len(records) > MAX_RECORDS:
        raise InvalidInput("answer_too_large", f"The answer has more than {MAX_RECORDS:,} records.")
    flat = [
        _flatten(record) if isinstance(record, Mapping) else {"value": _scalar(record)} for record in records
    ]
    names = list(dict.fromkeys(name for record in flat for name in record))
    if len(names) > MAX_RECORD_COLUMNS:
        raise InvalidInput("answer_too_large", f"The answer has more than {MAX_RECORD_COLUMNS:,} columns.")
    return pd.DataFrame({name: _column([record.get(name) for record in flat]) for name in names or ["value"]})


def _flatten(record: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in record.items():
        # An empty mapping stays a cell, else its column would vanish.
        if isinstance(value, Mapping) and value:
            values |= _flatten(value, f"{prefix}{name}.")
        else:
            values[f"{prefix}{name}"] = _scalar(value)
    return values


def _scalar(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | dict) else value


def _column(values: list[Any]) -> "pd.Series[Any]":
    """Infer the type of a column: numbers, booleans or times where all values are; else text."""
    present = [value for value in values if value is not None]
    # Booleans are tested first, as Python counts them among the integers.
    kinds = {bool if isinstance(value, bool) else str if isinstance(value, str) else float for value in present}
    if kinds == {bool}:
        return pd.Series(values, dtype="boolean")
    if kinds == {float}:
        is_integer = all(isinstance(value, int) and abs(value) < 2**63 for value in present)
        # Nullable: numpy's integers have no missing value, and floats round those above 2**53.
        return pd.Series(values, dtype="Int64" if is_integer else "float64")
    if kinds == {str} and all(_ISO_TIME.fullmatch(value) for value in present):
        # Moments of tables are in UTC and carry no zone.
        return pd.to_datetime(pd.Series(values), errors="coerce", utc=True, format="ISO8601").dt.tz_localize(
            None,
        )
    texts = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return pd.Series(texts, dtype="str")
