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
