"""Responses of the artifact endpoints."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field


class ArtifactView(BaseModel):
    """A file that a session produced. Its bytes: GET /artifacts/{id}."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    session_id: UUID | None
    step: int = Field(validation_alias="seq", description="Number of the step that produced it.")
    call_key: str = Field(description="Key of the call within the step; empty for the step itself.")
    kind: str = Field(examples=["report"])
    name: str = Field(examples=["report.html"])
    media_type: str = Field(examples=["text/html"])
    size_bytes: int
    digest: str = Field(description="SHA-256 of the bytes; also the ETag.")
    meta: dict[str, Any]
    created_at: datetime


class MismatchView(BaseModel):
    """`location`: the id of a claim or a place in the document."""

    location: str
    problem: str


class VerificationView(BaseModel):
    """Verification of a report: each of its claims compared with the journal."""

    session_id: UUID
    report: UUID = Field(description="The artifact report.json that was checked, with its HTML and Markdown.")
    passes: bool
    checked_claims: int = Field(description="Number of claims that were compared.")
    mismatches: list[MismatchView]
