"""API keys: 256 random bits, shown once, stored as SHA-256 (a slow hash protects only guessable secrets)."""

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

KEY_PREFIX = "lab_"
MAX_KEYS_PER_USER = 50
"""Unrevoked keys of one user: far more than the programs that one user runs."""
_SHOWN_PREFIX_CHARS = 12
"""Stored characters of a key: enough to tell keys apart, and 48 of its 256 bits."""


@dataclass(frozen=True)
class NewKey:
    text: str
    prefix: str
    digest: str


def generate_key() -> NewKey:
    text = KEY_PREFIX + secrets.token_urlsafe(32)
    return NewKey(text, text[:_SHOWN_PREFIX_CHARS], key_digest(text))


def key_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def is_key(credential: str) -> bool:
    return credential.startswith(KEY_PREFIX)


@dataclass(frozen=True)
class ApiKeys:
    """One user's API keys."""

    db: AsyncSession
    owner: UUID

    async def create(self, request: KeyCreate, actor: str = "user") -> KeyCreated:
        """Create a key; only this response contains its text. Raises Conflict over MAX_KEYS_PER_USER."""
        await self._check_key_count()
        key = generate_key()
        row = ApiKeyRow(
            id=uuid4(),
            user_id=self.owner,
            name=request.name,
            prefix=key.prefix,
            key_hash=key.digest,
            scopes=sorted(request.scopes),
            created_at=datetime.now(UTC),
            last_used_at=None,
            expires_at=_days_from_now(request.expires_in_days),
            revoked_at=None,
        )
        self.db.add(row)
        await self.db.flush()
        await audit.record(
            self.db, "key_created", owner_id=self.owner, actor=actor, key=row.id, scopes=row.scopes
        )
        return KeyCreated.model_validate({**row.__dict__, "key": key.text})

    async def revoke(self, key_id: UUID, actor: str = "user") -> None:
        """Revoke a key; safe to repeat. Raises NotFound."""
        row = await KeyRepository(self.db, self.owner).get(key_id)
        if row.revoked_at is None:
            row.revoked_at = datetime.now(UTC)
            await audit.record(self.db, "key_revoked", owner_id=self.owner, actor=actor, key=key_id)

    async def _check_key_count(self) -> None:
        # Requests at the same moment may exceed it by a few: it keeps a list short, and guards nothing.
        if await KeyRepository(self.db, self.owner).count_unrevoked() >= MAX_KEYS_PER_USER:
            raise Conflict(
                "too_many_keys",
                f"You have {MAX_KEYS_PER_USER} keys. Revoke one first.",
                limit=MAX_KEYS_PER_USER,
            )


def _days_from_now(days: int | None) -> datetime | None:
    return None if days is None else datetime.now(UTC) + timedelta(days=days)
