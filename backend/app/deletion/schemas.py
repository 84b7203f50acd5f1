"""Responses and requests of deletions. A `validation_alias` is the name of the column."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class DeletionView(BaseModel):
    """A requested deletion. It runs in the background and is resumed after a failure."""

    model_config = ConfigDict(from_attributes=True, frozen=True)

    id: UUID
    kind: Literal["session", "user", "thread"]
    target_id: UUID
    requested_by: str = Field(
        validation_alias="asked_by",
        description="`user`, `admin`, `operator` or `retention`.",
        examples=["user"],
    )
    requested_at: datetime = Field(validation_alias="asked_at")
    done_at: datetime | None
    deleted_counts: dict[str, int] = Field(
        validation_alias="gone", description="Rows deleted so far, by kind.", examples=[{"sessions": 12}]
    )


class DeletionPending(BaseModel):
    """Sessions that must end first. They are cancelled, and deleted once nothing of them runs."""

    remaining_sessions: int = Field(description="Sessions and runs not deleted yet.", examples=[1])


class AccountDeletion(BaseModel):
    """The password of the account, as confirmation."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)

    password: SecretStr = Field(min_length=1, max_length=128, examples=["correct horse battery"])
