"""Secrets of owners in Postgres."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Annotated, NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from app.db.pool import Database
from app.errors import NotFound, TooMany
from app.workflows.secrets.sealing import (
    WrappedKey,
    WrappingKey,
    derive_wrapping_key,
    make_data_key,
    seal,
    unseal,
    unwrap,
    wrap,
)
from app.workflows.statements import SECRETS

MAX_SECRETS = 200
"""Secrets of an owner: a workflow names a few, and each is read by itself."""
MAX_SECRET_CHARS = 10_000
"""Characters of a secret: long keys of services have a few thousand."""

_derive = lru_cache(maxsize=8)(derive_wrapping_key)
"""Derived keys of the few SECRET_KEYs of a process."""


class SecretView(BaseModel):
    """A secret by its name: its value is never shown."""

    name: str
    created_at: datetime
    updated_at: datetime


class SecretWrite(BaseModel):
    """The value of a secret."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    value: Annotated[SecretStr, Field(min_length=1, max_length=MAX_SECRET_CHARS)]

    @field_validator("value")
    @classmethod
    def _bound(cls, value: SecretStr) -> SecretStr:
        text = value.get_secret_value()
        if any(ord(character) < 32 or ord(character) == 127 for character in text):
            raise ValueError("a secret has no line breaks and no control characters")
        return value


class DataKeyRecord(NamedTuple):
    kid: str
    wrapped: bytes


@dataclass(frozen=True)
class SecretStore:
    """`secret_keys`: SECRET_KEY, then those that only open; read when a secret is first needed."""

    db: Database
    secret_keys: Callable[[], Sequence[str]]

    async def open_key(self) -> bytes:
        """Return the data key, made when there is none and wrapped anew when SECRET_KEY is new.

        Raises InvalidInput if no known SECRET_KEY opens it.
        """
        keys = [_derive(secret_key) for secret_key in self.secret_keys()]
        row = await self.db.row(SECRETS.get_data_key)
        if row is None:
            # Secrets are sealed by a key of their own: a new SECRET_KEY wraps one key anew, not all secrets.
            first = wrap(make_data_key(), keys[0])
            await self.db.value(SECRETS.create_data_key, first.kid, first.wrapped)
            # Read again, since another process may have made the key first.
            row = await self.db.row(SECRETS.get_data_key)
        return await self._open(WrappedKey(*DataKeyRecord(**dict(row or {}))), keys)

    async def check(self) -> None:
        """Raises InvalidInput if there are secrets that no known SECRET_KEY opens."""
        if await self.db.row(SECRETS.get_data_key) is not None:
            await self.open_key()

    async def _open(self, stored: WrappedKey, keys: Sequence[WrappingKey]) -> bytes:
        data_key = unwrap(stored, keys)
        if stored.kid != keys[0].kid:
            again = wrap(data_key, keys[0])
            # Only over the one that was read: another process may have wrapped it meanwhile.
            await self.db.value(SECRETS.rewrap_data_key, again.kid, again.wrapped, stored.kid)
        return data_key

    async def put(self, owner: UUID, name: str, value: str) -> SecretView:
        """Raises TooMany."""
        sealed = seal(await self.open_key(), owner, name, value)
        row = await self.db.row(SECRETS.put_secret, owner, name, sealed, MAX_SECRETS)
        if row is None:
            raise TooMany(
                "too_many_secrets", f"You have {MAX_SECRETS} secrets. Delete one first.", limit=MAX_SECRETS
            )
        return SecretView(**row)

    async def read(self, owner: UUID, name: str) -> str:
        """Return the value, for a request alone. Raises NotFound."""
        sealed = await self.db.value(SECRETS.read_sealed, owner, name)
        if sealed is None:
            raise make_unknown_secret_error(name)
        return unseal(await self.open_key(), owner, name, bytes(sealed))

    async def list_secrets(self, owner: UUID) -> list[SecretView]:
        return [SecretView(**row) for row in await self.db.rows(SECRETS.list_secrets, owner)]

    async def get(self, owner: UUID, name: str) -> SecretView:
        """Raises NotFound."""
        row = await self.db.row(SECRETS.get_secret, owner, name)
        if row is None:
            raise make_unknown_secret_error(name)
        return SecretView(**row)

    async def delete(self, owner: UUID, name: str) -> None:
        """Raises NotFound."""
        if await self.db.value(SECRETS.delete_secret, owner, name) is None:
            raise make_unknown_secret_error(name)

    async def forget_all(self) -> int:
        """Delete all secrets with their key, after SECRET_KEY was lost or has leaked. Return their number."""
        return int(await self.db.value(SECRETS.forget_secrets))


def make_unknown_secret_error(name: str) -> NotFound:
    return NotFound(
        "secret_not_found",
        f"There is no secret {name}. Write it in the page under Account, or by PUT /secrets/{name}.",
    )
