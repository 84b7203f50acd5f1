"""Who is asking."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


class Role(StrEnum):
    USER = "user"
    ADMIN = "admin"


class Credential(StrEnum):
    """What the caller proved to have."""

    TOKEN = "token"  # noqa: S105 - a kind of credential, not a secret
    KEY = "key"


@dataclass(frozen=True)
class Principal:
    """A known caller. `family`: the chain of refresh tokens that a token belongs to; None for an API key."""

    user_id: UUID
    role: Role
    credential: Credential
    family: UUID | None = None
