"""Rows of users, refresh tokens and API keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.repository import OwnedRepository
from app.db.tables import ApiKeyRow, RefreshTokenRow, UserRow
from app.errors import NotFound


class UserRepository:
    def __init__(self, db: AsyncSession) -> None:
        self.db = db

    async def by_email(self, email: str) -> UserRow | None:
        return (await self.db.execute(select(UserRow).where(UserRow.email == email))).scalar_one_or_none()

    async def get(self, user_id: UUID) -> UserRow:
        user = await self.db.get(UserRow, user_id)
        if user is None:
            raise NotFound("user_not_found", f"There is no user with the id {user_id}.")
        return user

    async def all(self) -> Sequence[UserRow]:
        return (await self.db.execute(select(UserRow).order_by(UserRow.created_at))).scalars().all()


class RefreshTokenRepository:
    def __init__(self, db: AsyncSession) -> None:
        self.db = db

    async def use(self, token_id: UUID) -> RefreshTokenRow | None:
        """Mark an unused token as used, in one guarded statement; None when it is no longer valid."""
        statement = (
            update(RefreshTokenRow)
            .where(
                RefreshTokenRow.id == token_id,
                RefreshTokenRow.used_at.is_(None),
                RefreshTokenRow.revoked_at.is_(None),
                RefreshTokenRow.expires_at > func.now(),
            )
            .values(used_at=func.now())
            .returning(RefreshTokenRow)
        )
        return (await self.db.execute(statement)).scalar_one_or_none()

    async def revoke_family(self, family: UUID) -> None:
        await self.db.execute(
            update(RefreshTokenRow)
            .where(RefreshTokenRow.family == family, RefreshTokenRow.revoked_at.is_(None))
            .values(revoked_at=func.now())
        )

    async def revoke_all(self, user_id: UUID) -> None:
        """Revoke all token families of a user."""
        await self.db.execute(
            update(RefreshTokenRow)
            .where(RefreshTokenRow.user_id == user_id, RefreshTokenRow.revoked_at.is_(None))
            .values(revoked_at=func.now())
        )

    async def delete_expired(self, user_id: UUID) -> None:
        await self.db.execute(
            delete(RefreshTokenRow).where(
                RefreshTokenRow.user_id == user_id, RefreshTokenRow.expires_at < func.now()
            )
        )


class KeyRepository(OwnedRepository[ApiKeyRow]):
    row = ApiKeyRow
    noun = "key"

    def select_owned(self) -> Select[ApiKeyRow]:
        return select(ApiKeyRow).where(ApiKeyRow.user_id == self.owner)

    async def count_unrevoked(self) -> int:
        """Count the keys that are not revoked."""
        unrevoked = self.select_owned().where(ApiKeyRow.revoked_at.is_(None)).subquery()
        return await self.db.scalar(select(func.count()).select_from(unrevoked)) or 0


@dataclass(frozen=True)
class CredentialHolder:
    """The user of a credential with role, quotas and scopes. `origin`, `expires_at`: see Principal."""

    user_id: UUID
    role: str
    quotas: dict[str, Any]
    origin: UUID
    scopes: Sequence[str] = ()
    expires_at: datetime | None = None


_KEY_IS_VALID = (
    ApiKeyRow.revoked_at.is_(None),
    or_(ApiKeyRow.expires_at.is_(None), ApiKeyRow.expires_at > func.now()),
    UserRow.disabled_at.is_(None),
)


async def use_key(db: AsyncSession, digest: str) -> CredentialHolder | None:
    """Find the holder of a valid key and mark the key as used."""
    statement = (
        update(ApiKeyRow)
        .where(ApiKeyRow.key_hash == digest, ApiKeyRow.user_id == UserRow.id, *_KEY_IS_VALID)
        .values(last_used_at=func.now())
        .returning(
            UserRow.id, UserRow.role, UserRow.quotas, ApiKeyRow.id, ApiKeyRow.scopes, ApiKeyRow.expires_at
        )
    )
    row = (await db.execute(statement)).one_or_none()
    return CredentialHolder(*row) if row else None


async def find_family_holder(db: AsyncSession, user_id: UUID, family: UUID) -> CredentialHolder | None:
    """Find the holder of a token family; None when the user is disabled or deleted or the family revoked."""
    of_family = RefreshTokenRow.family == family
    # No row of the family has to be valid: its tokens are used
    # up and deleted, and an access token expires by itself.
    revoked = select(RefreshTokenRow.id).where(of_family, RefreshTokenRow.revoked_at.is_not(None)).exists()
    query = select(UserRow.id, UserRow.role, UserRow.quotas).where(
        UserRow.id == user_id, UserRow.disabled_at.is_(None), ~revoked
    )
    row = (await db.execute(query)).one_or_none()
    return CredentialHolder(*row, origin=family) if row else None


async def find_key_holder(db: AsyncSession, user_id: UUID, key_id: UUID) -> CredentialHolder | None:
    """Find the holder of a valid key without marking the key as used."""
    query = (
        select(UserRow.id, UserRow.role, UserRow.quotas, ApiKeyRow.id, ApiKeyRow.scopes, ApiKeyRow.expires_at)
        .join_from(ApiKeyRow, UserRow, ApiKeyRow.user_id == UserRow.id)
        .where(ApiKeyRow.id == key_id, UserRow.id == user_id, *_KEY_IS_VALID)
    )
    row = (await db.execute(query)).one_or_none()
    return CredentialHolder(*row) if row else None
