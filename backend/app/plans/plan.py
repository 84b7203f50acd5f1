"""The query plan: a source and steps, each a typed model, and the bounds of its size."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from app.plans.expressions import DateUnit, Expression, Model, Name, Scalar, parse_datetime

MAX_DEPTH = 60
"""Levels of JSON in a plan: parsers of SQL recurse about three times for each."""
MAX_NODES = 3_000
"""Objects, lists and values of a plan: more would not fit in the 20,000 characters of a query."""
MAX_STEPS = 50
"""Steps of a plan: each may nest the SELECT once more, and parsers recurse."""
MAX_COLUMNS = 500
"""Names in one list of columns; wider tables are not shown."""
MAX_GENERATED_ROWS = 1_000_000
"""Rows of `generate`: a fifth of the rows that a query may answer."""
MAX_PIVOT_VALUES = 100
"""Columns that a pivot makes."""
MAX_CORRELATED_COLUMNS = 10
"""Columns of `correlate`: 45 pairs."""
MAX_PROFILED_COLUMNS = 40
"""Columns of `profile`: the query has about 400 characters for each."""
MAX_LIMIT = 5_000_000
"""Rows of a result, as of any query."""

Names = Annotated[list[Name], Field(min_length=1, max_length=MAX_COLUMNS)]
Keys = Annotated[list[Name], Field(max_length=MAX_COLUMNS)]
RowCount = Annotated[int, Field(strict=True, ge=1, le=MAX_LIMIT)]
Seed = Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)]
AggregateFunction = Literal[
    "count",
    "count_distinct",
    "sum",
    "mean",
    "median",
    "min",
    "max",
    "stddev",
    "variance",
    "quantile",
    "correlation",
    "slope",
    "first",
    "share_true",
]
PivotFunction = Literal[
    "count", "count_distinct", "sum", "mean", "median", "min", "max", "stddev", "first", "share_true"
]
WindowFunction = Literal[
    "row_number",
    "rank",
    "dense_rank",
    "lag",
    "lead",
    "cumulative_sum",
    "moving_mean",
    "share",
    "mean",
    "sum",
    "min",
    "max",
    "median",
    "stddev",
    "quantile",
]


class DatasetSource(Model):
    """A dataset by its table name."""

    kind: Literal["dataset"]
    table: Name


class WorkspaceSource(Model):
    """A table of the workspace (a frame) by its name."""

    kind: Literal["workspace"]
    table: Name


class PlanSource(Model):
    """The rows of another plan."""

    kind: Literal["plan"]
    plan: "Plan"


class GeneratedColumn(Model):
    """`index`: 0, 1, 2 ... `integer` and `number`: evenly from `low` to `high`. `choice`: of `values`.

    `datetime`: `start`, then one `unit` later with each row.
    """

    name: Name
    type: Literal["index", "integer", "number", "boolean", "choice", "datetime"]
    low: float = Field(default=0, ge=-1e12, le=1e12)
    high: float = Field(default=100, ge=-1e12, le=1e12)
    values: Annotated[list[Scalar], Field(max_length=100)] = Field(default_factory=list)
    start: str = "2024-01-01"
    unit: DateUnit = "day"

    @model_validator(mode="after")
    def _check(self) -> Self:
        parse_datetime(self.start)
        if self.low > self.high:
            raise ValueError("low is greater than high")
        if self.type == "choice" and (not self.values or len({type(value) for value in self.values}) > 1):
            raise ValueError("a choice needs values of one type")
        return self


class GenerateSource(Model):
    """Made rows; the same seed gives the same rows."""

    kind: Literal["generate"]
    rows: Annotated[int, Field(strict=True, ge=1, le=MAX_GENERATED_ROWS)]
    columns: Annotated[list[GeneratedColumn], Field(min_length=1, max_length=50)]
    seed: Seed = 0


Source = Annotated[DatasetSource | WorkspaceSource | PlanSource | GenerateSource, Field(discriminator="kind")]


class JoinKey(Model):
    left: Name
    right: Name


class JoinStep(Model):
    """Rows of a second source with equal keys. Its columns with a name that exists get `suffix`."""

    kind: Literal["join"]
    source: Source
    on: Annotated[list[JoinKey], Field(min_length=1, max_length=20)]
    how: Literal["inner", "left", "semi", "anti"] = "inner"
    suffix: Name = "_right"


class FilterStep(Model):
    """Keep rows for which a condition is true."""

    kind: Literal["filter"]
    condition: Expression


class DerivedColumn(Model):
    name: Name
    expression: Expression


class DeriveStep(Model):
    """Add or replace columns; each may use those before it."""

    kind: Literal["derive"]
    columns: Annotated[list[DerivedColumn], Field(min_length=1, max_length=100)]


class Aggregation(Model):
    """A figure of a group. `column` is left out for `count` of rows. `where`: rows that count.

    `share`: that of a `quantile`, from 0 to 1. `other`: the second column of a `correlation`, and the one over
    which the `slope` of the straight line by least squares is taken."""

    name: Name
    function: AggregateFunction
    column: Name | None = None
    where: Expression | None = None
    share: Annotated[float, Field(ge=0, le=1)] | None = None
    other: Name | None = None

    @model_validator(mode="after")
    def _check_arguments(self) -> Self:
        if (self.function == "quantile") != (self.share is not None):
            raise ValueError("a quantile, and nothing else, needs `share`")
        if (self.function in ("correlation", "slope")) != (self.other is not None):
            raise ValueError("a correlation or a slope, and nothing else, needs `other`")
        return self


class GroupStep(Model):
    """One row for each combination of the keys; without keys one row."""

    kind: Literal["group"]
    keys: Keys = Field(default_factory=list)
    aggregations: Annotated[list[Aggregation], Field(max_length=100)] = Field(default_factory=list)


class SortKey(Model):
    column: Name
    descending: bool = False


SortKeys = Annotated[list[SortKey], Field(min_length=1, max_length=20)]


class WindowColumn(Model):
    """A figure over the rows of the same `within`, in the order of `order`. `rows`: offset or width.

    `share`: that of a `quantile`, from 0 to 1."""

    name: Name
    function: WindowFunction
    column: Name | None = None
    within: Keys = Field(default_factory=list)
    order: Annotated[list[SortKey], Field(max_length=20)] = Field(default_factory=list)
    rows: Annotated[int, Field(strict=True, ge=1, le=10_000)] = 1
    share: Annotated[float, Field(ge=0, le=1)] | None = None

    @model_validator(mode="after")
    def _check_share(self) -> Self:
        if (self.function == "quantile") != (self.share is not None):
            raise ValueError("a quantile, and nothing else, needs `share`")
        return self


class WindowStep(Model):
    """Add figures over the rows around each row."""

    kind: Literal["window"]
    columns: Annotated[list[WindowColumn], Field(min_length=1, max_length=50)]


class SortStep(Model):
    """Order rows; nulls come last."""

    kind: Literal["sort"]
    keys: SortKeys


class SelectedColumn(Model):
    name: Name
    rename: Name | None = None


class SelectStep(Model):
    """Keep these columns, in this order."""

    kind: Literal["select"]
    columns: Annotated[list[SelectedColumn], Field(min_length=1, max_length=MAX_COLUMNS)]


class TopKStep(Model):
    """The k rows with the greatest (or smallest) value, of each `within`. Rows without value are left out."""

    kind: Literal["top_k"]
    k: RowCount
    by: Name
    descending: bool = True
    within: Keys = Field(default_factory=list)


class LimitStep(Model):
    """Keep the first rows."""

    kind: Literal["limit"]
    rows: RowCount


class DistinctStep(Model):
    """Rows without duplicates."""

    kind: Literal["distinct"]


class UnionStep(Model):
    """The rows of both sources, matched by the names of columns."""

    kind: Literal["union"]
    source: Source
    distinct: bool = False


class PivotStep(Model):
    """One row for each combination of the keys and one column for each value of `column`."""

    kind: Literal["pivot"]
    keys: Keys = Field(default_factory=list)
    column: Name
    values: Annotated[list[Scalar], Field(min_length=1, max_length=MAX_PIVOT_VALUES)]
    function: PivotFunction = "sum"
    of: Name | None = None


class UnpivotStep(Model):
    """One row for each of `columns`: its name and its value; other columns are repeated."""

    kind: Literal["unpivot"]
    columns: Annotated[list[Name], Field(min_length=1, max_length=MAX_PIVOT_VALUES)]
    name: Name = "column"
    value: Name = "value"


class SampleStep(Model):
    """Up to `rows` rows by chance; the same seed gives the same rows."""

    kind: Literal["sample"]
    rows: RowCount
    seed: Seed = 0


class ProfileStep(Model):
    """One row for each column: type, rows, missing, distinct, minimum and maximum as text."""

    kind: Literal["profile"]


class CorrelateStep(Model):
    """One row for each pair of columns: Pearson's correlation and the rows with both."""

    kind: Literal["correlate"]
    columns: Annotated[list[Name], Field(min_length=2, max_length=MAX_CORRELATED_COLUMNS)]


Step = Annotated[
    JoinStep
    | FilterStep
    | DeriveStep
    | GroupStep
    | WindowStep
    | SortStep
    | SelectStep
    | TopKStep
    | LimitStep
    | DistinctStep
    | UnionStep
    | PivotStep
    | UnpivotStep
    | SampleStep
    | ProfileStep
    | CorrelateStep,
    Field(discriminator="kind"),
]


class Plan(Model):
    """A query plan: the rows of a source, changed by steps in order."""

    version: Literal[1] = 1
    source: Source
    steps: Annotated[list[Step], Field(max_length=MAX_STEPS)] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _bound(cls, value: Any) -> Any:
        # Before the fields, since their validation recurses into plans and expressions.
        require_bounded(value)
        return value


def require_bounded(value: object) -> None:
    """Check depth and size of the JSON of a plan, without recursion; raises ValueError."""
    nodes = 0
    for depth, parts in enumerate(count_parts(value), 1):
        nodes += parts
        if depth > MAX_DEPTH:
            raise ValueError(f"The plan is nested more than {MAX_DEPTH} levels deep; use several steps.")
        if nodes > MAX_NODES:
            raise ValueError(f"The plan has more than {MAX_NODES:,} parts; split it.")


def count_parts(value: object) -> Iterator[int]:
    """Yield the number of parts of each level of JSON, the outermost first."""
    # Level by level: recursion over a hostile plan would end in RecursionError before its depth is known.
    level: list[object] = [value]
    while level:
        yield len(level)
        level = [part for parent in level for part in _parts(parent)]


def _parts(value: object) -> Sequence[object]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list | tuple) else ()


# Plans hold sources that hold plans: the models are complete once all of them are defined.
for _model in (PlanSource, JoinStep, UnionStep, Plan):
    _model.model_rebuild()
