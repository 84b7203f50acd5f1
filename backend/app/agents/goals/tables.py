"""Profiles of tables and columns as the planner uses them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from app.agents.goals.stemming import stems

COMMON_SPACINGS_S = (1.0, 10.0, 60.0, 300.0, 600.0, 900.0, 1800.0, 3600.0)


@dataclass(frozen=True)
class Column:
    """`hint` is the profile's: numeric, boolean, category, datetime, text, id, constant or empty."""

    name: str
    type: str
    hint: str
    distinct: int = 0
    missing: float = 0.0
    unique: bool = False
    top: tuple[Any, ...] = ()
    low: Any = None
    high: Any = None
    median: Any = None
    """Median of a number."""
    is_date_order_open: bool = False
    """Dates whose order of day and month is ambiguous."""
    is_stored_as_text: bool = False
    """Stored as text, whatever type its values parse as."""

    @property
    def can_be_target(self) -> bool:
        return self.hint not in {"id", "constant", "empty", "datetime", "text"}

    @property
    def is_number(self) -> bool:
        return self.type in {"integer", "number"}

    @property
    def has_few_values(self) -> bool:
        return 2 <= self.distinct <= 10


@dataclass(frozen=True)
class TableProfile:
    name: str
    rows: int
    columns: tuple[Column, ...] = field(default=())

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)

    @property
    def dates(self) -> list[Column]:
        return [column for column in self.columns if column.hint == "datetime" or column.type == "datetime"]


def make_table_profile(schema: Mapping[str, Any]) -> TableProfile:
    """Make a table profile from the value of `get_dataset_schema`."""
    return TableProfile(schema["table"], int(schema["rows"]), tuple(map(_column, schema["columns"])))


def _column(profile: Mapping[str, Any]) -> Column:
    reading = profile.get("reading") or {}
    return Column(
        name=profile["name"],
        type=reading["as"] if reading.get("as") in _PARSED_TYPES else profile["type"],
        hint=profile.get("hint") or _HINTS.get(profile["type"], "category"),
        distinct=int(profile.get("distinct") or 0),
        missing=float(profile.get("missing") or 0.0),
        unique=bool(profile.get("unique")),
        top=tuple(item["value"] for item in profile.get("top") or ()),
        low=reading.get("min", profile.get("min")),
        high=reading.get("max", profile.get("max")),
        median=reading.get("q50", profile.get("q50")),
        is_date_order_open=reading.get("as") == "datetime" and reading.get("confidence", 1.0) <= 0.5,
        is_stored_as_text=profile["type"] == "text",
    )


_PARSED_TYPES = {"number", "datetime", "boolean"}
"""Types that text may parse as; see `modeling.type_inference`."""

_HINTS = {"integer": "numeric", "number": "numeric", "boolean": "boolean", "datetime": "datetime"}


def row_spacing_s(column: Column) -> float | None:
    """Return the usual seconds between neighbouring rows of a date column; None if unknown."""
    try:
        low, high = datetime.fromisoformat(str(column.low)), datetime.fromisoformat(str(column.high))
    except ValueError:
        return None
    gaps = column.distinct - 1
    return _round_spacing((high - low).total_seconds() / gaps) if gaps > 0 and high > low else None


def _round_spacing(spacing_s: float) -> float:
    """Round to a common spacing that gaps have stretched: a mean of 5.6 minutes means five-minute rows."""
    return next((rhythm for rhythm in COMMON_SPACINGS_S if rhythm <= spacing_s <= 1.5 * rhythm), spacing_s)


def mentioned_tables(tables: Sequence[TableProfile], goal: str) -> list[TableProfile]:
    """Return the tables whose name occurs in the goal."""
    goal_stems = set(stems(goal))
    return [table for table in tables if (name := set(stems(table.name))) and name <= goal_stems]
