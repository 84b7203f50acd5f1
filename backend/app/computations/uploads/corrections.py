"""Conversion of columns of a stored table by readings that a person chose."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from app.errors import InvalidInput
from app.modeling.facts.readings import ColumnReading, ReadingChoice, number_parser
from app.modeling.type_inference.column_decisions import infer_types
from app.modeling.type_inference.distinct_values import is_text
from app.modeling.type_inference.parsers import AnyParser, validate_parsers

_MARKS = {"decimal_point": (".", ","), "decimal_comma": (",", ".")}
_ARROW_TYPES = {
    "read_number": pa.float64(),
    "read_clock": pa.float64(),
    "read_date": pa.timestamp("us"),
    "read_boolean": pa.bool_(),
}


@dataclass(frozen=True)
class CorrectedColumn:
    """`values`: typed cells (rows,); `parser`: JSON for cells that come later."""

    values: pa.Array
    parser: dict[str, Any]


def correct_column(
    typed: pd.Series, cells: pd.Series | None, choice: ReadingChoice, reading: ColumnReading | None
) -> CorrectedColumn:
    """Convert a column by the chosen reading.

    `typed`: the stored values. `cells`: as written in the file, None where they were not stored. Raises
    InvalidInput `reading_not_possible` if a cell cannot be read so, or cannot be restored.
    """
    name = str(typed.name)
    if (
        cells is None
        and pd.api.types.is_datetime64_any_dtype(typed.dtype)
        and choice in ("day_first", "month_first")
    ):
        return _reorder(typed, choice, reading)
    raw = cells if cells is not None else typed
    if not is_text(raw):
        raw = _restore(raw, choice)
    parser = _make_parser(raw.rename(name), choice, reading)
    return CorrectedColumn(_parse_all(raw, parser, choice), parser)


def _restore(typed: pd.Series, choice: ReadingChoice) -> pd.Series:
    """The cells of a column of whole numbers, as text. Other types do not show how their cells were written."""
    present = typed.dropna()
    if (
        choice in ("category", "text")
        and pd.api.types.is_numeric_dtype(typed.dtype)
        and (present % 1 == 0).all()
    ):
        # Through whole numbers: a column with missing cells is one of floats, whose text would be `1.0`.
        text: pd.Series = typed.astype("Int64").astype("str").where(typed.notna())
        return text
    raise InvalidInput(
        "reading_not_possible",
        f"{str(typed.name)!r} has one reading only, so its cells were not stored as written.",
        column=str(typed.name),
    )


def _reorder(typed: pd.Series, choice: str, reading: ColumnReading | None) -> CorrectedColumn:
    """Exchange day and month; dates with a day above 12 have one order only."""
    parser = dict(reading.parser) if reading and reading.parser else {}
    if "day_first" not in parser:
        raise InvalidInput(
            "reading_not_possible",
            f"The dates of {str(typed.name)!r} are written in an order that has one reading.",
            column=str(typed.name),
        )
    if parser["day_first"] == (choice == "day_first"):
        return CorrectedColumn(pa.array(typed, pa.timestamp("us")), parser)
    impossible = typed.dt.day > 12
    if impossible.any():
        raise _unreadable(str(typed.name), choice, str(typed[impossible].iloc[0].date()))
    fields = {"year": typed.dt.year, "month": typed.dt.day, "day": typed.dt.month}
    # The time of day is not part of the exchange.
    swapped = pd.to_datetime(pd.DataFrame(fields)) + (typed - typed.dt.normalize())
    return CorrectedColumn(
        pa.array(swapped, pa.timestamp("us")), {**parser, "day_first": choice == "day_first"}
    )


def _make_parser(raw: pd.Series, choice: ReadingChoice, reading: ColumnReading | None) -> dict[str, Any]:
    if choice in ("text", "category"):
        return {"op": "read_text"}
    stored = dict(reading.parser) if reading and reading.parser else {}
    if choice in _MARKS:
        decimal, group = _MARKS[choice]
        is_number = stored.get("op") == "read_number"
        # Units and words for missing values stay: the marks alone are corrected.
        return {**(stored if is_number else {}), **number_parser(decimal, group)}
    decisions = infer_types(raw.to_frame(), types={str(raw.name): choice})
    parser = decisions[0].way if decisions else {}
    expected = {"number": "read_number", "boolean": "read_boolean"}.get(choice, "read_date")
    if parser.get("op") != expected:
        raise _unreadable(str(raw.name), choice, str(raw.dropna().iloc[0]) if raw.notna().any() else "")
    return parser


def _parse_all(raw: pd.Series, parser: Mapping[str, Any], choice: str) -> pa.Array:
    column_parser: AnyParser
    (column_parser,) = validate_parsers([{**parser, "columns": [str(raw.name)]}])
    values = column_parser.parse(raw)
    unparsed = column_parser.is_unparsed(raw).to_numpy(dtype=bool, na_value=False)
    # A choice that loses cells is refused: the person sees which cell contradicts it.
    if unparsed.any():
        raise _unreadable(str(raw.name), choice, str(raw.iloc[int(np.argmax(unparsed))]))
    if parser["op"] == "read_text":
        return pa.array(values.astype("object").where(values.notna(), None), pa.string())
    return pa.array(values, _ARROW_TYPES[str(parser["op"])], from_pandas=True)


def _unreadable(name: str, choice: str, example: str) -> InvalidInput:
    label = re.sub("_", " ", choice)
    return InvalidInput(
        "reading_not_possible", f"{name!r} cannot be read as {label}: {example!r}.", column=name, choice=choice
    )


def require_columns(names: Sequence[str], choices: Mapping[str, str]) -> None:
    """Raise InvalidInput `unknown_column` for a choice of a column that the table does not have."""
    unknown = [name for name in choices if name not in names]
    if unknown:
        raise InvalidInput("unknown_column", f"The table has no column {unknown[0]!r}.", column=unknown[0])
