"""The data structures of a parsed question."""

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
    """A condition on one column, on a `part` of its date if given. `date`: the value is compared as a date."""

    column: str
    comparison: Comparison
    value: Cell | None = None
    part: Part | None = None
    date: bool = False


@dataclass(frozen=True)
class Aggregate:
    """A function of columns. A `share` is the share of rows that meet its conditions."""

    function: Function
    columns: tuple[str, ...] = ()
    percent: float = 50.0
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class GroupKey:
    column: str
    part: Part | None = None


@dataclass(frozen=True)
class ParsedQuestion:
    """Aggregates of the rows that meet all `conditions`, for each group.

    `limit`: the number of groups to return, ranked by the first aggregate (`descending` or not).
    `interpretations`: notes on words with several possible meanings.
    """

    table: str
    measures: tuple[Aggregate, ...]
    conditions: tuple[Condition, ...] = ()
    groups: tuple[GroupKey, ...] = ()
    limit: int | None = None
    descending: bool = True
    is_listing: bool = False
    """True if the groups themselves are requested, the most frequent first."""
    is_share: bool = False
    """True if the share of each group in all rows is requested."""
    interpretations: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class UnparsedQuestion:
    """The reason why a question was not understood, and similar questions that are."""

    reason: str
    options: tuple[str, ...] = ()
