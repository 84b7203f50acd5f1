"""Conversion of a program's result to the shape of a SELECT's answer."""

from collections.abc import Iterable, Iterator
from typing import Any

from app.errors import ToolRefused
from app.json_types import JsonValue

_FRAME_KEYS = {"columns", "rows", "row_count"}
"""Keys of a DataFrame that a program left as its result, see `sandbox.answer_conversion`."""
MAX_ROWS = 200
"""Rows of an answer that are recorded; the report shows fewer."""


def make_answer(result: Any) -> dict[str, Any]:
    """Convert `result` to the shape of `queries.answer`. Raises ToolRefused if it is not tabular."""
    records = _records(result)
    names = list(dict.fromkeys(name for record in records for name in record))
    rows: list[JsonValue] = [[record.get(name) for name in names] for record in records[:MAX_ROWS]]
    if any(not isinstance(cell, str | int | float | bool | None) for row in rows for cell in row):  # type: ignore[union-attr]  # lists, made above
        raise _not_tabular()
    columns: list[JsonValue] = [
        {"name": name, "type": _type([record.get(name) for record in records])} for name in names
    ]
    is_frame = isinstance(result, dict) and set(result) == _FRAME_KEYS
    row_count = int(result["row_count"]) if is_frame else len(records)
    return {
        "columns": columns,
        "rows": rows,
        "row_count": row_count,
        "truncated": row_count > len(rows),
        "rows_used": None,
        "rows_there": None,
        "tables": [],
    }


def _records(result: Any) -> list[dict[str, Any]]:
    if isinstance(result, dict) and set(result) == _FRAME_KEYS:
        return [dict(zip(result["columns"], row, strict=True)) for row in result["rows"]]
    if isinstance(result, dict) and result and any(isinstance(cell, dict | list) for cell in result.values()):
        return _nested_records(result)
    if isinstance(result, list) and result and all(isinstance(item, dict) for item in result):
        return result
    if isinstance(result, dict) and result:
        return [result]
    if isinstance(result, list) and result:
        return [{"value": item} for item in result]
    if isinstance(result, str | int | float | bool):
        return [{"value": result}]
    raise _not_tabular()


def _nested_records(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one record for each row of a nested table, else one for each value with its path."""
    values = list(result.values())
    if all(isinstance(value, dict) and _is_flat(value.values()) for value in values):
        return [{"name": name, **value} for name, value in result.items()]
    if all(isinstance(value, list) and _is_flat(value) and len(value) == len(values[0]) for value in values):
        return [dict(zip(result, row, strict=True)) for row in zip(*values, strict=True)]
    return [{"name": path, "value": value} for path, value in _leaves(result, "")]


def _is_flat(cells: Iterable[Any]) -> bool:
    return not any(isinstance(cell, dict | list) for cell in cells)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and set(value) == _FRAME_KEYS:
        value = _records(value)
    if not isinstance(value, dict | list):
        yield path, value
        return
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, entry in entries:
        yield from _leaves(entry, f"{path}.{key}" if path else str(key))


def _type(cells: list[Any]) -> str:
    present = [cell for cell in cells if cell is not None]
    # Before numbers: in Python a bool is an int.
    if present and all(isinstance(cell, bool) for cell in present):
        return "boolean"
    if present and all(isinstance(cell, int) for cell in present):
        return "integer"
    return "number" if present and all(isinstance(cell, int | float) for cell in present) else "text"


def _not_tabular() -> ToolRefused:
    return ToolRefused("Set `result` to a number, a text, a DataFrame, or lists and dicts of them.")
