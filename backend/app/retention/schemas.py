"""What deletions look like from outside."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class DeletionView(BaseModel):
    """A deletion that was asked for. It goes on by itself, and again after whatever stops it."""

    model_config = ConfigDict(from_attributes=True, frozen=True)

    id: UUID
    kind: Literal["session", "user"]
    target_id: UUID
    asked_by: str = Field(description="`user`, `admin` or `operator`.", examples=["user"])
    asked_at: datetime
    done_at: datetime | None
    gone: dict[str, int] = Field(description="How much has gone so far.", examples=[{"sessions": 12}])


class DeletionPending(BaseModel):
    """Sessions that must end first: they are cancelled, and go when nothing of them runs any more."""

    waits_for: int = Field(description="Sessions and runs that have not gone yet.", examples=[1])


class AccountDeletion(BaseModel):
    """Your password, once more."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)

    password: SecretStr = Field(min_length=1, max_length=128, examples=["correct horse battery"])
