"""What the artifact endpoints answer."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field


class ArtifactView(BaseModel):
    """Something a session left. Its bytes: GET /artifacts/{id}."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    session_id: UUID | None
    seq: int = Field(description="The step that made it.")
    call_key: str = Field(description="The call of that step; empty for the step itself.")
    kind: str = Field(examples=["report"])
    name: str = Field(examples=["report.html"])
    media_type: str = Field(examples=["text/html"])
    size_bytes: int
    digest: str = Field(description="SHA-256 of the bytes; also the ETag.")
    meta: dict[str, Any]
    created_at: datetime


class MismatchView(BaseModel):
    """`where`: a claim's id or a place in the document."""

    where: str
    problem: str


class VerificationView(BaseModel):
    """A report's claims, read again from the journal just now."""

    session_id: UUID
    report: UUID = Field(description="The artifact report.json that was checked, with its HTML and Markdown.")
    passes: bool
    checked: int = Field(description="How many claims were read again.")
    mismatches: list[MismatchView]
