"""Use of the stored reading of a file in place of an inferred one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from app.modeling.type_inference.distinct_values import is_text
from app.modeling.type_inference.type_decision import TypeDecision

_TYPES = {"read_number": "number", "read_clock": "number", "read_date": "datetime", "read_text": "text"}
"""Parser of a converted column -> its type."""
_NUMBER_FIELDS = ("decimal", "group", "before", "after", "spellings")


def use_readings(
    frame: pd.DataFrame,
    decisions: Sequence[TypeDecision],
    parsers: Mapping[str, Mapping[str, Any]],
    requested: Mapping[str, str] | None = None,
) -> tuple[list[TypeDecision], list[TypeDecision]]:
    """Replace inferred parsers by those of the stored reading (column -> parser as JSON).

    Returns the decisions on columns of the frame, and those on columns that the upload has converted already:
    their parsers are for rows that come as text later. Columns whose type the user requested stay as they are.
    """
    by_name = {decision.column: decision for decision in decisions}
    converted: list[TypeDecision] = []
    for name, parser in parsers.items():
        if name not in frame.columns or name in (requested or {}):
            continue
        decision = by_name.get(name)
        if decision is not None:
            by_name[name] = _combine(decision, parser, is_raw=is_text(frame[name]))
        elif _is_converted(frame[name], str(parser["op"])):
            converted.append(
                TypeDecision(name, _TYPES[parser["op"]], dict(parser), _describe(name, parser), 1.0)
            )
    return list(by_name.values()), converted


def _describe(name: str, parser: Mapping[str, Any]) -> str:
    """A sentence on a column of texts that became values at upload; empty where the file's type says it all."""
    match parser["op"]:
        case "read_clock":
            return f"{name!r} holds times, converted to hours at upload."
        case "read_number" if "before" in parser:
            return f"{name!r} holds numbers written as text, converted at upload."
        case "read_date" if list(parser.get("spellings") or ()) != ["day and month"]:
            return f"{name!r} holds dates written as text, converted at upload."
        case _:
            return ""


def _combine(decision: TypeDecision, parser: Mapping[str, Any], *, is_raw: bool) -> TypeDecision:
    """The stored parser of text; of numbers its spelling, with the inferred codes for missing values."""
    if is_raw and parser["op"] == "read_text":
        return replace(decision, reads_as="text", way=dict(parser), text="", confidence=1.0)
    if decision.way["op"] != parser["op"]:
        return decision
    if is_raw:
        return replace(decision, way=dict(parser))
    if parser["op"] != "read_number":
        return decision
    return replace(
        decision, way={**decision.way, **{key: parser[key] for key in _NUMBER_FIELDS if key in parser}}
    )


def _is_converted(column: pd.Series, op: str) -> bool:
    if op == "read_date":
        return bool(pd.api.types.is_datetime64_any_dtype(column.dtype))
    if op == "read_text":
        return is_text(column)
    is_number = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    return op in ("read_number", "read_clock") and bool(is_number)
