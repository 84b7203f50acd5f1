"""Requests for rows and figures of tables: source, conditions, order."""

from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

MAX_CONDITIONS = 100
"""Comparisons of one filter: more than anybody reads, few enough for one query."""
MAX_DEPTH = 8
"""Levels of conditions in one another."""
MAX_VALUES = 1_000
"""Values of `in`: those of a column that somebody may tick in a list."""
MAX_FILTER_VALUES = 5_000
"""Values of all comparisons of one filter together: 100 lists of 1,000 took 14 s for a table of 500 rows."""
MAX_SUMMARY_COLUMNS = 200
"""Columns of one summary: each costs a pass over its cells."""

ColumnName = Annotated[str, Field(max_length=1000, pattern=r"^[^\x00]*$", examples=["age"])]
CellValue = Annotated[str, Field(max_length=1000, pattern=r"^[^\x00]*$")] | bool | int | float
_NO_VALUE = ("missing", "present")
_LIST = ("in", "between")


class TableSource(BaseModel):
    """A table: a dataset, or an artifact that is a table, as runs, answers and sessions leave them."""

    model_config = ConfigDict(extra="forbid")

    dataset_id: UUID | None = None
    artifact_id: UUID | None = None

    @model_validator(mode="after")
    def _require_one(self) -> Self:
        if (self.dataset_id is None) == (self.artifact_id is None):
            raise ValueError("give either dataset_id or artifact_id")
        return self


class TableExportRequest(TableSource):
    """A table to be written as text."""

    separator: Literal["comma", "tab"] = Field(
        default="comma", description="`tab` for the clipboard of spreadsheets."
    )


class ColumnComparison(BaseModel):
    """A comparison of a column: as numbers, days or times where cell and value are, else as texts.

    `in` and `between` take `values`, `missing` and `present` nothing, the others `value`. A missing cell meets
    `missing` only.
    """

    model_config = ConfigDict(extra="forbid")

    column: ColumnName
    comparison: Literal["=", "!=", "<", "<=", ">", ">=", "contains", "in", "between", "missing", "present"] = (
        "="
    )
    value: CellValue | None = None
    values: list[CellValue] | None = Field(default=None, min_length=1, max_length=MAX_VALUES)

    @model_validator(mode="after")
    def _require_values(self) -> Self:
        has_value, has_list = self.value is not None, self.values is not None
        needs_list = self.comparison in _LIST
        # Refused rather than passed over: a value that has no effect would be taken for a filter.
        if has_list != needs_list or has_value != (not needs_list and self.comparison not in _NO_VALUE):
            needed = "values" if needs_list else "no value" if self.comparison in _NO_VALUE else "value"
            raise ValueError(f"{self.comparison} takes {needed}")
        if self.comparison == "between" and len(self.values or ()) != 2:
            raise ValueError("between takes two values, the smaller one first")
        return self

    def to_cell(self) -> dict[str, Any]:
        """Return the JSON that `row_conditions.read_condition` reads."""
        values = self.values or ([] if self.value is None else [self.value])
        return {"column": self.column, "comparison": self.comparison, "values": values}


class AllConditions(BaseModel):
    """Conditions that must all hold."""

    model_config = ConfigDict(extra="forbid")

    members: list["Conditions"] = Field(alias="and", min_length=1, max_length=MAX_CONDITIONS)

    def to_cell(self) -> dict[str, Any]:
        """Return the JSON that `row_conditions.read_condition` reads."""
        return {"and": [member.to_cell() for member in self.members]}


class AnyCondition(BaseModel):
    """Conditions of which one must hold."""

    model_config = ConfigDict(extra="forbid")

    members: list["Conditions"] = Field(alias="or", min_length=1, max_length=MAX_CONDITIONS)

    def to_cell(self) -> dict[str, Any]:
        """Return the JSON that `row_conditions.read_condition` reads."""
        return {"or": [member.to_cell() for member in self.members]}


# Pydantic asks for the kind of JSON when it reads, and for that of models when it writes.
def _kind_of(condition: Any) -> str:
    if isinstance(condition, AllConditions) or (isinstance(condition, dict) and "and" in condition):
        return "and"
    if isinstance(condition, AnyCondition) or (isinstance(condition, dict) and "or" in condition):
        return "or"
    return "comparison"


Conditions = Annotated[
    Annotated[AllConditions, Tag("and")]
    | Annotated[AnyCondition, Tag("or")]
    | Annotated[ColumnComparison, Tag("comparison")],
    Discriminator(_kind_of),
]
"""A tree of conditions."""


def _measure(condition: AllConditions | AnyCondition | ColumnComparison) -> tuple[int, int]:
    """Return the number of comparisons and the levels of a tree."""
    if isinstance(condition, ColumnComparison):
        return 1, 1
    sizes = [_measure(member) for member in condition.members]
    return sum(count for count, _ in sizes), 1 + max(depth for _, depth in sizes)


def _count_values(condition: AllConditions | AnyCondition | ColumnComparison) -> int:
    if isinstance(condition, ColumnComparison):
        return len(condition.values or ())
    return sum(_count_values(member) for member in condition.members)


class SelectedRows(BaseModel):
    """Rows of a table that meet a filter and hold a text; without them, all."""

    model_config = ConfigDict(extra="forbid")

    source: TableSource
    filter: Conditions | None = Field(
        default=None,
        examples=[
            {"or": [{"column": "age", "comparison": "<", "value": 18}, {"column": "sex", "value": "female"}]}
        ],
    )
    search: str = Field(
        default="", max_length=1000, pattern=r"^[^\x00]*$", description="Text in any column, in either case."
    )

    @model_validator(mode="after")
    def _bound_filter(self) -> Self:
        # Of the whole tree: each list of its own is bounded by its field already.
        count, depth = _measure(self.filter) if self.filter else (0, 0)
        if count > MAX_CONDITIONS or depth > MAX_DEPTH:
            raise ValueError(f"a filter has up to {MAX_CONDITIONS} comparisons in {MAX_DEPTH} levels")
        if self.filter and _count_values(self.filter) > MAX_FILTER_VALUES:
            raise ValueError(f"a filter has up to {MAX_FILTER_VALUES:,} values")
        return self

    def to_cell(self) -> dict[str, Any]:
        """Return the parameters of the computation."""
        parameters = self.model_dump(mode="json", exclude={"source", "filter"}, exclude_defaults=True)
        return parameters | ({"filter": self.filter.to_cell()} if self.filter else {})


class SortedBy(BaseModel):
    """A key of an order; missing values come last in both directions."""

    model_config = ConfigDict(extra="forbid")

    column: ColumnName
    descending: bool = False


class TableQuery(SelectedRows):
    """A page of the selected rows."""

    columns: list[ColumnName] = Field(default=[], max_length=5000, description="In this order; empty for all.")
    sort: list[SortedBy] = Field(
        default=[],
        max_length=10,
        description="First key first; equal rows stay in file order.",
        examples=[[{"column": "age", "descending": True}]],
    )
    offset: int = Field(default=0, ge=0, le=2**53)
    limit: int = Field(default=100, ge=1, le=1000)


class TableSummaryRequest(SelectedRows):
    """The distribution of columns over the selected rows."""

    columns: list[ColumnName] = Field(
        default=[],
        max_length=MAX_SUMMARY_COLUMNS,
        description="Empty for the first 200 of the table.",
    )
    bins: int = Field(default=20, ge=1, le=30, description="Most bins of a histogram.")
    top: int = Field(default=5, ge=0, le=20, description="Commonest values of columns without a histogram.")

    def to_cell(self) -> dict[str, Any]:
        """Return the parameters of the computation."""
        return super().to_cell() | {"max_columns": MAX_SUMMARY_COLUMNS}


class GroupedBy(BaseModel):
    """A column whose values make groups: each, or bins of equal width, or units of time."""

    model_config = ConfigDict(extra="forbid")

    column: ColumnName
    bins: int | None = Field(default=None, ge=1, le=100, description="Of numbers; a group is its lower edge.")
    unit: Literal["hour", "day", "week", "month", "quarter", "year"] | None = Field(
        default=None, description="Of moments; a group is its begin."
    )

    @model_validator(mode="after")
    def _require_one(self) -> Self:
        if self.bins is not None and self.unit is not None:
            raise ValueError("give bins or unit, not both")
        return self


class TableMeasure(BaseModel):
    """A figure of each group. `count` without a column counts rows, with one its cells with a value."""

    model_config = ConfigDict(extra="forbid")

    function: Literal["count", "distinct", "sum", "mean", "median", "std", "min", "max"] = "count"
    column: ColumnName | None = None
    name: ColumnName | None = Field(
        default=None, description="Of the column of the result; made up without one."
    )

    @model_validator(mode="after")
    def _require_column(self) -> Self:
        if self.column is None and self.function != "count":
            raise ValueError(f"{self.function} needs a column")
        return self


class TableAggregateRequest(SelectedRows):
    """Figures by groups of the selected rows: what a chart draws."""

    groups: list[GroupedBy] = Field(default=[], max_length=4, examples=[[{"column": "age", "bins": 10}]])
    measures: list[TableMeasure] = Field(
        default=[TableMeasure()],
        min_length=1,
        max_length=20,
        examples=[[{"function": "count"}, {"function": "mean", "column": "survived"}]],
    )
    sort: list[SortedBy] = Field(
        default=[], max_length=10, description="By columns of the result; then by the groups."
    )
    limit: int = Field(default=1000, ge=1, le=5000)

    def to_cell(self) -> dict[str, Any]:
        """Return the parameters of the computation."""
        measures = [measure.model_dump(exclude_none=True) for measure in self.measures]
        groups = [group.model_dump(exclude_none=True) for group in self.groups]
        return super().to_cell() | {"groups": groups, "measures": measures}
