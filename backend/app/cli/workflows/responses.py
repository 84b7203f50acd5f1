"""Answers of the API about workflows and their runs, as far as the terminal shows them."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class _Answer(BaseModel):
    """Base of answers of the API; fields that are not shown are ignored."""

    model_config = ConfigDict(extra="ignore")


class ListedWorkflow(_Answer):
    id: str
    name: str
    version: int
    updated_at: datetime


class WorkflowContent(ListedWorkflow):
    document: dict[str, Any]


class DifferenceText(_Answer):
    text: str


class ProposalFault(_Answer):
    pointer: str
    message: str


class Proposal(_Answer):
    id: str
    summary: str
    difference: DifferenceText
    faults: list[ProposalFault]
    status: str


class ListedAuthor(_Answer):
    email: str
    kind: str
    name: str | None = None

    def describe(self) -> str:
        ways = {"api_key": f"key {self.name or 'deleted'}", "conversation": "conversation", "job": "job"}
        return f"{self.email}, {ways[self.kind]}" if self.kind in ways else self.email


class ListedVersion(_Answer):
    version: int
    message: str
    created_at: datetime
    author: ListedAuthor | None = None


class RunNode(_Answer):
    status: str
    rows: int | None = None
    figure: float | None = None
    passes: bool | None = None
    answer: str | None = None
    error: str | None = None
    notes: list[str] = Field(default_factory=list)
    columns: list[dict[str, Any]] = Field(default_factory=list)
    preview: list[list[Any]] = Field(default_factory=list)


class RunWait(_Answer):
    key: str
    text: str
    options: list[Any]


class WorkflowRunAnswer(_Answer):
    id: str
    status: str
    outcome: str | None = None
    nodes: dict[str, RunNode] = Field(default_factory=dict)
    question: RunWait | None = None
    waits_for: str | None = None
    waits_until: datetime | None = None
    ended_at: datetime | None = None


class ListedTrigger(_Answer):
    node: str
    text: str
    next_ticks: list[datetime]


class ListedRun(_Answer):
    id: str
    status: str
    version: int
    node: str
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
