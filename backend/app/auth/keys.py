"""API keys: 256 random bits, shown once, kept as a SHA-256 (a slow hash guards guessable secrets only)."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from sqlalchemy.ext.asyncio import AsyncSession

from app.auth.repository import KeyRepository
from app.auth.schemas import KeyCreate, KeyCreated
from app.db.tables import ApiKeyRow
from app.errors import Conflict
from app.observability import audit

KEY_MARK = "lab_"
MAX_KEYS = 50
_PREFIX_LENGTH = 12


@dataclass(frozen=True)
class NewKey:
    text: str
    prefix: str
    digest: str


def new_key() -> NewKey:
    text = KEY_MARK + secrets.token_urlsafe(32)
    return NewKey(text, text[:_PREFIX_LENGTH], key_digest(text))


def key_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def looks_like_key(credential: str) -> bool:
    return credential.startswith(KEY_MARK)


@dataclass(frozen=True)
class ApiKeys:
    """One user's API keys."""

    db: AsyncSession
    owner: UUID

    async def create(self, wanted: KeyCreate, actor: str = "user") -> KeyCreated:
        """The only time that the key's text can be seen. Raises Conflict over MAX_KEYS."""
        await self._leave_room()
        key = new_key()
        row = ApiKeyRow(
            id=uuid4(),
            user_id=self.owner,
            name=wanted.name,
            prefix=key.prefix,
            key_hash=key.digest,
            scopes=sorted(wanted.scopes),
            created_at=datetime.now(UTC),
            last_used_at=None,
            expires_at=_after_days(wanted.expires_in_days),
            revoked_at=None,
        )
        self.db.add(row)
        await self.db.flush()
        await audit.record(
            self.db, "key_created", owner_id=self.owner, actor=actor, key=row.id, scopes=row.scopes
        )
        return KeyCreated.model_validate({**row.__dict__, "key": key.text})

    async def revoke(self, key_id: UUID, actor: str = "user") -> None:
        """Raises NotFound; revoking twice is once."""
        row = await KeyRepository(self.db, self.owner).get(key_id)
        if row.revoked_at is None:
            row.revoked_at = datetime.now(UTC)
            await audit.record(self.db, "key_revoked", owner_id=self.owner, actor=actor, key=key_id)

    async def _leave_room(self) -> None:
        if await KeyRepository(self.db, self.owner).working() >= MAX_KEYS:
            raise Conflict("too_many_keys", f"You have {MAX_KEYS} keys. Revoke one first.", limit=MAX_KEYS)


def _after_days(days: int | None) -> datetime | None:
    return None if days is None else datetime.now(UTC) + timedelta(days=days)
