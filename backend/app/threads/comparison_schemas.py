"""Responses about the difference between two worldlines."""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from app.workspaces.schemas import WorkspaceColumn


class TurnSince(BaseModel):
    """A turn after the last common one."""

    turn_id: UUID
    message: str
    mode: str


class DifferingRows(BaseModel):
    """Rows that only one side has, duplicates counted: their number, and the first of them in no order."""

    rows: list[list[Any]]
    row_count: int


class TableSide(BaseModel):
    """A table or view as one worldline has it."""

    kind: Literal["table", "view"]
    rows: int
    columns: list[WorkspaceColumn]
    sql: str | None = None


class TableDifference(BaseModel):
    """A name that the workspaces differ in. `first` or `second` is null where it does not exist."""

    name: str
    first: TableSide | None
    second: TableSide | None
    compared_columns: list[str] = Field(
        default_factory=list, description="Columns that both tables have; rows are compared on them."
    )
    only_first: DifferingRows | None = None
    only_second: DifferingRows | None = None


class WorldlineComparison(BaseModel):
    """The last turn that two worldlines share, and their differences since."""

    first: UUID
    second: UUID
    common_turn: UUID | None = Field(description="The last turn that both have; null if there is none.")
    turns_first: list[TurnSince]
    turns_second: list[TurnSince]
    equal_tables: list[str] = Field(description="Names that both workspaces have alike.")
    tables: list[TableDifference]
