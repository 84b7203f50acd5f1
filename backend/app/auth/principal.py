"""Who is asking."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from app.auth.quotas import NO_QUOTAS, Quotas


class UserRole(StrEnum):
    USER = "user"
    ADMIN = "admin"


class Credential(StrEnum):
    """What the caller proved to have."""

    TOKEN = "token"  # noqa: S105 - a kind of credential, not a secret
    KEY = "key"


class Scope(StrEnum):
    """What an API key may be used for; a token may do all of it."""

    READ = "read"
    DATA = "data"
    """Upload and delete datasets."""
    SESSIONS = "sessions"
    """Create, answer and cancel sessions."""
    RUNS = "runs"
    """Run programs and queries."""
    PREDICT = "predict"
    ADMIN = "admin"
    """What only an admin may do, for a key of an admin."""


ALL_SCOPES = frozenset(Scope)
DEFAULT_SCOPES = ALL_SCOPES - {Scope.ADMIN}
"""Of a key that was asked for without."""


@dataclass(frozen=True)
class CredentialReference:
    """The identity of a credential that was accepted earlier. It admits nobody: see `Authenticator.confirm`."""

    user_id: UUID
    credential: Credential
    origin: UUID
    expires_at: datetime | None

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True)
class Principal:
    """A known caller.

    `origin`: what its credential is revoked by, the family of refresh tokens that an access token belongs to or
    the API key's id. `expires_at`: when the credential ends by itself.
    """

    user_id: UUID
    role: UserRole
    credential: Credential
    origin: UUID
    expires_at: datetime | None
    scopes: frozenset[Scope] = ALL_SCOPES
    quotas: Quotas = NO_QUOTAS

    @property
    def reference(self) -> CredentialReference:
        return CredentialReference(self.user_id, self.credential, self.origin, self.expires_at)

    def is_expired(self, now: datetime) -> bool:
        return self.reference.is_expired(now)
