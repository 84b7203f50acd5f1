"""Conversion of a program's result to the shape of a SELECT's answer."""

from typing import Any

from app.errors import ToolRefused
from app.json_types import JsonValue

MAX_ROWS = 200
"""Rows of an answer that are recorded; the report shows fewer."""


def make_answer(result: Any) -> dict[str, Any]:
    """Convert `result` to the shape of `computations.answer`. Raises ToolRefused if it is not tabular."""
    records = _records(result)
    names = list(dict.fromkeys(name for record in records for name in record))
    rows: list[JsonValue] = [[record.get(name) for name in names] for record in records[:MAX_ROWS]]
    if any(not isinstance(cell, str | int | float | bool | None) for row in rows for cell in row):  # type: ignore[union-attr]  # lists, made above
        raise _not_tabular()
    columns: list[JsonValue] = [
        {"name": name, "type": _type([record.get(name) for record in records])} for name in names
    ]
    return {
        "columns": columns,
        "rows": rows,
        "row_count": len(records),
        "truncated": len(records) > len(rows),
        "rows_used": None,
        "rows_there": None,
        "tables": [],
    }


def _records(result: Any) -> list[dict[str, Any]]:
    if isinstance(result, list) and result and all(isinstance(item, dict) for item in result):
        return result
    if isinstance(result, dict) and result:
        return [result]
    if isinstance(result, list) and result:
        return [{"value": item} for item in result]
    if isinstance(result, str | int | float | bool):
        return [{"value": result}]
    raise _not_tabular()


def _type(cells: list[Any]) -> str:
    present = [cell for cell in cells if cell is not None]
    if present and all(isinstance(cell, bool) for cell in present):
        return "boolean"
    if present and all(isinstance(cell, int) for cell in present):
        return "integer"
    return "number" if present and all(isinstance(cell, int | float) for cell in present) else "text"


def _not_tabular() -> ToolRefused:
    return ToolRefused("Set `result` to a number, a text, a list of them, or a list of records.")
