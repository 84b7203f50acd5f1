"""What a question asks of a table, as values."""

from dataclasses import dataclass, field
from typing import Literal, get_args

Function = Literal[
    "count",
    "mean",
    "median",
    "total",
    "highest",
    "lowest",
    "spread",
    "percentile",
    "different",
    "missing",
    "missing_share",
    "correlation",
    "share",
    "commonest",
]
Comparison = Literal["is", "is not", "above", "at least", "below", "at most", "known", "unknown"]
Part = Literal["year", "quarter", "month", "weekday", "day", "hour"]
Cell = str | int | float | bool

PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(frozen=True)
class Condition:
    """A test of one column. A `part` tests that part of its date; `date` compares it as a date."""

    column: str
    comparison: Comparison
    value: Cell | None = None
    part: Part | None = None
    date: bool = False


@dataclass(frozen=True)
class Measure:
    """One figure: a function of its columns. A `share` is that of the rows that meet its conditions."""

    function: Function
    columns: tuple[str, ...] = ()
    percent: float = 50.0
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Group:
    column: str
    part: Part | None = None


@dataclass(frozen=True)
class Inquiry:
    """Measures of a table's rows, those that meet all `conditions`, for each group.

    `most`: only that many groups, the highest of the first measure first (`descending`) or the lowest.
    `readings`: how words were taken that could be taken otherwise.
    """

    table: str
    measures: tuple[Measure, ...]
    conditions: tuple[Condition, ...] = ()
    groups: tuple[Group, ...] = ()
    most: int | None = None
    descending: bool = True
    listing: bool = False
    """The groups themselves are asked for, the commonest first."""
    of_whole: bool = False
    """The share of each group in all rows."""
    readings: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Misread:
    """A question that was not understood: why, and questions like it that are."""

    reason: str
    options: tuple[str, ...] = ()
