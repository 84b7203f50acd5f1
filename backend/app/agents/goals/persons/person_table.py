"""The description of a table of persons at cutoffs, which is made of transactions."""

from datetime import date, timedelta
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from app.agents.goals.conditions.row_conditions import RowCondition, describe_conditions
from app.agents.goals.periods.time_axis import TimeAxis
from app.agents.goals.series.select_sql import NumberText
from app.counts import describe_count

PersonOutcome = Literal["active", "inactive", "sum", "count"]
CUTOFF = "cutoff"
"""Name of the column of cutoffs."""
MAX_CUTOFFS = 24
"""Cutoffs with an outcome: each repeats every person that was seen before it."""
MAX_HORIZON_DAYS = 3_660
"""Days of the longest horizon, ten years."""


class PersonDetails(BaseModel):
    """A table with one row for each person, whose columns are inputs.

    `key`: its column with the person. `columns`: values of which none can come from after a cutoff, such as a
    birth year or a city; no totals of today. `dates`: dates, which count from their day on.
    """

    model_config = ConfigDict(extra="forbid")

    table: str
    key: str
    columns: list[str] = Field(default_factory=list, max_length=50)
    dates: list[str] = Field(default_factory=list, max_length=10)
    # Left out of the schema, as conditions on rows of transactions are in the plan.
    filter: SkipJsonSchema[list[RowCondition]] = Field(default_factory=list)
    """Conditions that persons meet."""


# Chat models are sent this text. Beyond it: outcomes never overlap, and a person is in the rows of a cutoff
# if it was seen before.
class PersonTable(BaseModel):
    """A table of one row for each person and cutoff, made of rows of what persons did.

    Inputs come from the rows before a cutoff, the outcome from the `horizon_days` after it. The newest cutoff
    is `end`, the day after the last row, whose outcome is predicted; `cutoffs` others lie before it, one
    horizon apart. `person`, `time`: columns of a row. `outcome`: `active` (has a row within the horizon),
    `inactive` (has none, of those with a row in the horizon before: churn), the `sum` of `amount`, or the
    `count` of rows. `amounts`, `categories`: columns that inputs are made of. `returns`: the amount that is
    below zero in rows that take back others.
    """

    model_config = ConfigDict(extra="forbid")

    person: str
    noun: SkipJsonSchema[str] = "persons"
    """Plural word for the persons."""
    time: str
    # Left out of the schema: a chat model names columns of dates alone.
    axis: SkipJsonSchema[TimeAxis | None] = None
    numbers: SkipJsonSchema[dict[str, NumberText]] = Field(default_factory=dict)
    """How amounts that are stored as text are written, by column."""
    end: date
    horizon_days: int = Field(ge=1, le=MAX_HORIZON_DAYS)
    cutoffs: int = Field(ge=1, le=MAX_CUTOFFS)
    outcome: PersonOutcome
    amount: str | None = None
    amounts: list[str] = Field(default_factory=list, max_length=10)
    categories: list[str] = Field(default_factory=list, max_length=20)
    returns: str | None = None
    details: PersonDetails | None = None

    @property
    def name(self) -> str:
        """Name of the outcome. The end of a number's name is read as its unit, and is no number of days."""
        days = describe_count(self.horizon_days, "day")
        return {
            "active": f"active within {days}",
            "inactive": f"inactive for {days}",
            "sum": f"{self.horizon_days}-day sum of {self.amount}",
            "count": f"{self.horizon_days}-day number of rows",
        }[self.outcome]

    @property
    def is_classification(self) -> bool:
        return self.outcome in ("active", "inactive")

    @property
    def dates_of_cutoffs(self) -> list[date]:
        """The cutoffs from the oldest to the end of the data."""
        steps = range(self.cutoffs, -1, -1)
        return [self.end - timedelta(days=self.horizon_days * step) for step in steps]

    @property
    def source_columns(self) -> list[str]:
        """The columns of the transactions that the table is made of."""
        time = [self.time] if self.axis is None else [name for name in self.axis.columns if name]
        own = [name for name in (self.amount, self.returns) if name]
        return [self.person, *time, *own, *self.amounts, *self.categories]

    @property
    def detail_columns(self) -> list[str]:
        details = self.details
        return [details.key, *details.columns, *details.dates] if details else []

    @property
    def description(self) -> str:
        conditions = self.details.filter if self.details else []
        whose = f" whose {describe_conditions(conditions)}" if conditions else ""
        return f"one row for each `{self.person}`{whose} and cutoff, with the outcome `{self.name}`"
