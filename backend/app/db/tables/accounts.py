"""Tables of users, their credentials and the audit trail."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.tables.base import Base, Json, new_id, now


class UserRow(Base):
    __tablename__ = "users"

    id: Mapped[UUID] = new_id()
    email: Mapped[str] = mapped_column(unique=True)
    """In lower case; `auth.schemas.Email` converts it."""
    password_hash: Mapped[str]
    role: Mapped[str] = mapped_column(CheckConstraint("role IN ('user', 'admin')", name="role"))
    created_at: Mapped[datetime] = now()
    disabled_at: Mapped[datetime | None]
    quotas: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    """Quotas of this user that override the settings: `auth.quotas.QuotaUpdate` as JSON."""


class RefreshTokenRow(Base):
    """One token of a rotating family; using a token twice revokes the family."""

    __tablename__ = "refresh_tokens"

    id: Mapped[UUID] = new_id()
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    family: Mapped[UUID] = mapped_column(index=True)
    issued_at: Mapped[datetime] = now()
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class ApiKeyRow(Base):
    __tablename__ = "api_keys"

    id: Mapped[UUID] = new_id()
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    prefix: Mapped[str]
    """The key's first characters, so that its owner can tell keys apart."""
    key_hash: Mapped[str] = mapped_column(unique=True)
    scopes: Mapped[list[str]]
    """`auth.principal.Scope`s."""
    created_at: Mapped[datetime] = now()
    last_used_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class AuditRow(Base):
    """One audited action. Append-only."""

    __tablename__ = "audit"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=True)
    at: Mapped[datetime] = now()
    # No foreign keys: the trail outlives sessions and accounts.
    owner_id: Mapped[UUID | None] = mapped_column(index=True)
    session_id: Mapped[UUID | None] = mapped_column(index=True)
    actor: Mapped[str]
    """`user`, `system` or an agent's name."""
    action: Mapped[str]
    detail: Mapped[Json] = mapped_column(server_default=text("'{}'"))
