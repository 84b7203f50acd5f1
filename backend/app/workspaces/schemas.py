"""Responses about the workspace of a worldline."""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field


class WorkspaceColumn(BaseModel):
    name: str
    type: str = "text"


class WorkspaceTable(BaseModel):
    """A table or view of a conversation. `rows` of a view: as it was created."""

    name: str
    kind: Literal["table", "view"]
    rows: int
    columns: list[WorkspaceColumn]
    sql: str | None = Field(default=None, description="The SELECT of a view.")
    artifact: UUID | None = Field(default=None, description="The file with the rows of a table.")
    size_bytes: int | None = None
    hides_dataset: bool = Field(
        default=False, description="A dataset of that name is read as `dataset.name`, not by its name alone."
    )


class WorkspaceFile(BaseModel):
    """A file of a conversation, by its path in the workspace."""

    name: str
    size_bytes: int
    media_type: str
    artifact: UUID | None = Field(default=None, description="Its bytes.")


class WorkspaceVariable(BaseModel):
    """A variable of programs. `text`: its value in a line, or the first line of a definition."""

    name: str
    type: str = Field(examples=["DataFrame", "int", "function"])
    text: str


class LostVariable(BaseModel):
    """A variable that ended with its program."""

    name: str
    reason: str = Field(examples=["a generator"])


class WorkspaceView(BaseModel):
    """The workspace at the end of a worldline: what the conversation made."""

    worldline_id: UUID
    thread_id: UUID
    head: UUID | None = Field(description="The last turn; null before the first.")
    tables: list[WorkspaceTable]
    files: list[WorkspaceFile] = Field(default_factory=list, description="Files that turns wrote.")
    variables: list[WorkspaceVariable] = Field(
        default_factory=list, description="What programs assigned, and later ones find."
    )


def make_columns(columns: Any) -> list[WorkspaceColumn]:
    return [WorkspaceColumn.model_validate({"name": c["name"], "type": c.get("type", "text")}) for c in columns]
