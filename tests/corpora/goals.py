"""Format of the corpus of goals: tables in outline, and the acceptable readings of goals on them."""

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator
from tests.corpora.tables import ColumnType, Half, InventedSource, PackageSource, StrictModel

GOALS_DIRECTORY = Path(__file__).parent / "goals"
MAX_EXAMPLES = 5
"""Example values of a column in an outline."""

Aim = Literal[
    "predict",
    "forecast",
    "explore",
    "explain_drivers",
    "question",
    "not_served",
    "nonsense",
    "other_language",
]
UNREADABLE_AIMS = frozenset({"not_served", "nonsense", "other_language"})


class Column(StrictModel):
    """Column in outline, with invented example values written as in a CSV file."""

    name: str = Field(min_length=1)
    type: ColumnType
    examples: list[str] = Field(min_length=1, max_length=MAX_EXAMPLES)
    distinct: int = Field(ge=1)
    missing_percent: float = Field(ge=0, le=100)
    about: str = Field(min_length=1)


class Table(StrictModel):
    """Table in outline: name, number of rows and columns."""

    name: str = Field(min_length=1)
    rows: int = Field(ge=1)
    columns: list[Column] = Field(min_length=1)

    @model_validator(mode="after")
    def check_columns(self) -> Self:
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise ValueError(f"table {self.name}: a column occurs twice")
        for column in self.columns:
            if column.distinct > self.rows:
                raise ValueError(f"column {column.name}: more distinct values than rows")
        return self


class Aggregation(StrictModel):
    """Series made of transactions: a measure per period."""

    measure: str = Field(pattern=r"^(count|(sum|mean):.+)$")
    every: Literal["day", "week", "month", "quarter", "year"]


class Horizon(StrictModel):
    """Length of a forecast; the unit is null where the goal leaves it to the table."""

    steps: int = Field(ge=1)
    unit: Literal["minute", "hour", "day", "week", "month", "quarter", "year"] | None


class Reading(StrictModel):
    """Acceptable reading of a goal."""

    kind: Literal["regression", "binary", "multiclass", "forecast", "question", "exploration"]
    table: str
    target: str | None
    positive: str | None
    aggregation: Aggregation | None
    horizon: Horizon | None
    excluded: list[str]
    filter: str | None
    metric: str | None


class Goal(StrictModel):
    """Goal in the user's words with its acceptable readings, best first."""

    goal: str = Field(min_length=1)
    aim: Aim
    plain: bool
    readings: list[Reading]
    may_ask: bool
    ask_about: str | None
    note: str = Field(min_length=1)

    @model_validator(mode="after")
    def check_readings(self) -> Self:
        if (self.aim in UNREADABLE_AIMS) != (not self.readings):
            raise ValueError(f"{self.goal!r}: readings are empty exactly for {sorted(UNREADABLE_AIMS)}")
        if self.plain and self.may_ask:
            raise ValueError(f"{self.goal!r}: a plain goal may not be asked about")
        if self.ask_about is not None and not self.may_ask:
            raise ValueError(f"{self.goal!r}: ask_about without may_ask")
        return self


class GoalTable(StrictModel):
    """One file of the corpus: its tables and the goals on them."""

    id: str = Field(pattern=r"^[a-z0-9]+(_[a-z0-9]+)*$")
    source: PackageSource | InventedSource
    title: str = Field(min_length=1)
    tables: list[Table] = Field(min_length=1)
    goals: list[Goal] = Field(min_length=1)


def load_goals(half: Half) -> list[GoalTable]:
    """Files of one half in the order of their names; raise ValidationError on a malformed file."""
    paths = sorted((GOALS_DIRECTORY / half).glob("*.json"))
    return [GoalTable.model_validate_json(path.read_text(encoding="utf-8"), strict=True) for path in paths]
