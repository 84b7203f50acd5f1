"""Faults of a workflow, each with its place."""

from pydantic import BaseModel, Field


class WorkflowFault(BaseModel):
    """A fault at one place of a document. `nearest`: names that would be right."""

    pointer: str = Field(examples=["/nodes/2/config/k"])
    code: str = Field(examples=["unknown_node_type"])
    message: str
    nearest: list[str] = Field(default_factory=list)
