"""The authenticated caller: role, credential and scopes."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from app.auth.quotas import NO_QUOTAS, Quotas


class UserRole(StrEnum):
    USER = "user"
    ADMIN = "admin"


class Credential(StrEnum):
    """Kind of credential."""

    TOKEN = "token"  # noqa: S105 - a kind of credential, not a secret
    KEY = "key"
    BROWSER = "browser"
    """A browser's cookie."""


class Scope(StrEnum):
    """Permission of an API key; tokens have all permissions of their user."""

    READ = "read"
    DATA = "data"
    """Upload and delete datasets."""
    SESSIONS = "sessions"
    """Create, answer and cancel sessions."""
    RUNS = "runs"
    """Run programs and queries."""
    CHAT = "chat"
    """Converse: turns run programs and queries, and start studies."""
    PREDICT = "predict"
    ADMIN = "admin"
    """Administrate accounts, for a key of an admin."""


ALL_SCOPES = frozenset(Scope)
DEFAULT_SCOPES = ALL_SCOPES - {Scope.ADMIN}
"""Scopes of a key that is created without any."""


@dataclass(frozen=True)
class CredentialReference:
    """The identity of an accepted credential. It grants no access by itself: see `Authenticator.confirm`."""

    user_id: UUID
    credential: Credential
    origin: UUID
    expires_at: datetime | None

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True)
class Principal:
    """An authenticated caller.

    `origin`: the id by which the credential is revoked, that of a family (tokens, a browser) or of an API key.
    `expires_at`: expiry of the credential.
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
