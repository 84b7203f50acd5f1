"""The program of a question: which figures of which rows it asks for, by names of columns.

A program is smaller than a query plan: it says nothing of joins, labels or missing values, which follow from
the tables. Corpora write it as Python expressions (`tests/corpora/program_text.py`), a fitted decoder builds it
from a question, and `program_plan.py` turns it into a plan.
"""

from dataclasses import dataclass
from typing import Literal

Scalar = str | int | float | bool
Unit = Literal["year", "quarter", "month", "week", "day", "hour"]
Part = Literal[
    "year",
    "quarter",
    "month",
    "weekday",
    "hour",
    "yearquarter",
    "yearmonth",
    "week",
    "day",
    "bins",
]
"""What of a column makes groups or is compared. The last five but `bins` are whole periods of a calendar."""
Sign = Literal["==", "!=", "<", "<=", ">", ">="]
FigureName = Literal[
    "count",
    "distinct",
    "sum",
    "mean",
    "median",
    "min",
    "max",
    "std",
    "quantile",
    "corr",
    "share",
    "part",
    "change",
    "cumulative",
    "ratio",
    "minus",
]


@dataclass(frozen=True)
class Term:
    """A value of each row: a column, a part of one, or two columns joined by `sign`.

    The signs `days`, `hours` and `minutes` are the time from the first column to the second.
    """

    column: str
    part: Part | None = None
    sign: Literal["+", "-", "*", "/", "days", "hours", "minutes"] | None = None
    second: "Term | None" = None


@dataclass(frozen=True)
class Statistic:
    """A figure of all rows that a condition compares each with: the mean, or a quantile."""

    name: Literal["mean", "median", "quantile"]
    share: float | None = None


@dataclass(frozen=True)
class Test:
    """A condition of each row. `kind` says what of the other fields counts."""

    kind: Literal[
        "compare", "in", "between", "contains", "starts", "missing", "present", "last", "this", "previous"
    ]
    term: Term
    sign: Sign | None = None
    values: tuple[Scalar, ...] = ()
    """Of a comparison one, of `between` two, of `last` the number of periods."""
    other: Term | Statistic | None = None
    """What a comparison compares with, where that is no value."""
    unit: Unit | None = None


@dataclass(frozen=True)
class Denial:
    """A condition that must not hold."""

    test: "Condition"


@dataclass(frozen=True)
class AnyOf:
    """Conditions of which one has to hold."""

    tests: "tuple[Condition, ...]"


Condition = Test | Denial | AnyOf


@dataclass(frozen=True)
class ProgramFigure:
    """A figure of rows, or of the rows of each group. `where`: the rows that count."""

    name: FigureName
    term: Term | None = None
    where: Condition | None = None
    other: Term | None = None
    share: float | None = None
    parts: "tuple[ProgramFigure, ...]" = ()
    """Of `ratio` and `minus` two, of `part`, `change` and `cumulative` one."""


@dataclass(frozen=True)
class GroupBound:
    """A condition of groups. `value`: a number, or `mean` for the mean of that figure over all groups."""

    figure: ProgramFigure
    sign: Sign
    value: float | Literal["mean"]


@dataclass(frozen=True)
class ProgramOrder:
    """`count`: how many rows or groups are kept, None for all."""

    by: Term | ProgramFigure
    descending: bool
    count: int | None = None


@dataclass(frozen=True)
class Program:
    """The figures, groups or rows that a question asks for.

    `figures`: of all rows, or of each group of `keys`. `groups`: the keys of the groups that are left;
    `count_groups`: their number; `over`: one figure of the figures of the groups. `rows` and `values`: columns,
    of each row or every value once. `none`: the tables do not hold what is asked for.
    """

    shows: Literal["figures", "groups", "count_groups", "over", "rows", "values", "none"]
    figures: tuple[ProgramFigure, ...] = ()
    over: Literal["mean", "median", "min", "max", "sum", "std"] | None = None
    columns: tuple[Term, ...] = ()
    keys: "tuple[Term | Condition, ...]" = ()
    where: tuple[Condition, ...] = ()
    having: tuple[GroupBound, ...] = ()
    order: ProgramOrder | None = None
