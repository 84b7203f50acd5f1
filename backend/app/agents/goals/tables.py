"""What the planner knows of tables: columns with their profile, and how tables hang together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from app.agents.goals.stemming import stems

RHYTHMS_S = (1.0, 10.0, 60.0, 300.0, 600.0, 900.0, 1800.0, 3600.0)


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
    middle: Any = None
    """Median of a number."""
    open_order: bool = False
    """Dates of which nobody can tell whether day or month comes first."""
    as_text: bool = False
    """Stored as text, whatever it is read as."""

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
class Table:
    name: str
    rows: int
    columns: tuple[Column, ...] = field(default=())

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)

    @property
    def dates(self) -> list[Column]:
        return [column for column in self.columns if column.hint == "datetime" or column.type == "datetime"]


def table_of(schema: Mapping[str, Any]) -> Table:
    """A table from what `get_dataset_schema` returned."""
    return Table(schema["table"], int(schema["rows"]), tuple(map(_column, schema["columns"])))


def _column(profile: Mapping[str, Any]) -> Column:
    reading = profile.get("reading") or {}
    return Column(
        name=profile["name"],
        type=reading["as"] if reading.get("as") in _READ else profile["type"],
        hint=profile.get("hint") or _HINTS.get(profile["type"], "category"),
        distinct=int(profile.get("distinct") or 0),
        missing=float(profile.get("missing") or 0.0),
        unique=bool(profile.get("unique")),
        top=tuple(item["value"] for item in profile.get("top") or ()),
        low=reading.get("min", profile.get("min")),
        high=reading.get("max", profile.get("max")),
        middle=reading.get("q50", profile.get("q50")),
        open_order=reading.get("as") == "datetime" and reading.get("confidence", 1.0) <= 0.5,
        as_text=profile["type"] == "text",
    )


_READ = {"number", "datetime", "boolean"}
"""What text may be read as; see `modeling.reading`."""

_HINTS = {"integer": "numeric", "number": "numeric", "boolean": "boolean", "datetime": "datetime"}


def row_spacing_s(column: Column) -> float | None:
    """Usual seconds between neighbouring rows of a date column; None when it cannot be told."""
    try:
        low, high = datetime.fromisoformat(str(column.low)), datetime.fromisoformat(str(column.high))
    except ValueError:
        return None
    gaps = column.distinct - 1
    return _regular((high - low).total_seconds() / gaps) if gaps > 0 and high > low else None


def _regular(spacing_s: float) -> float:
    """The usual rhythm that gaps have stretched a little: 5.6 minutes on average are rows of five minutes."""
    return next((rhythm for rhythm in RHYTHMS_S if rhythm <= spacing_s <= 1.5 * rhythm), spacing_s)


def mentioned(tables: Sequence[Table], goal: str) -> list[Table]:
    """Tables whose name stands in the goal."""
    said = set(stems(goal))
    return [table for table in tables if (name := set(stems(table.name))) and name <= said]
