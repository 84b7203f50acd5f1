"""The quota of bytes of a user's datasets and artifacts."""

import time
from collections.abc import Callable
from uuid import UUID

from app.auth.principal import Principal
from app.auth.quotas import MIB
from app.auth.ttl_cache import TtlCache
from app.db.pool import Database
from app.errors import TooMany

_USAGE_TTL_S = 20.0
"""Age up to which a sum is used again: the query reads all rows of a user, and a quota is no exact balance."""

_USED_BYTES = """
select coalesce((select sum(size_bytes) from datasets where owner_id = $1), 0)
  -- A fork shares the bytes of its source.
  + coalesce((select sum(size_bytes) from (
      select distinct on (digest) size_bytes from artifacts where owner_id = $1) as stored), 0) as bytes
"""


class StorageQuota:
    """Check the bytes that users hold, queried at most once in _USAGE_TTL_S for each user."""

    def __init__(self, db: Database, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._db = db
        self._usage_cache: TtlCache[int] = TtlCache(monotonic)

    async def require(self, principal: Principal, more_bytes: int = 0) -> None:
        """Raise TooMany when a user holds their quota, or would with `more_bytes`."""
        await self.require_bytes(principal.user_id, principal.quotas.stored_mb * MIB, more_bytes)

    async def require_bytes(self, user_id: UUID, max_bytes: int, more_bytes: int = 0) -> None:
        """Raise TooMany as `require`; 0 `max_bytes` is no limit."""
        if not max_bytes:
            return
        used = await self.used_bytes(user_id)
        if used + more_bytes >= max_bytes:
            raise TooMany(
                "storage_full",
                f"Your datasets and artifacts hold {used:,} of {max_bytes:,} bytes. "
                "Delete some, or ask an admin.",
                held_bytes=used,
                limit_bytes=max_bytes,
            )

    async def charge_bytes(self, user_id: UUID, max_bytes: int, more_bytes: int) -> None:
        """Raise TooMany as `require_bytes`, by a sum that is new; otherwise count `more_bytes` from now on."""
        if not max_bytes:
            return
        # What many calls record within the time of one sum adds up. Other processes delete, and bytes that are
        # stored already count twice until then, so nothing is refused by a sum that is not new.
        if await self.used_bytes(user_id) + more_bytes >= max_bytes:
            self.invalidate_user(user_id)
        await self.require_bytes(user_id, max_bytes, more_bytes)
        used = await self.used_bytes(user_id)
        self._usage_cache.store(user_id, user_id, used + more_bytes, _USAGE_TTL_S)

    async def used_bytes(self, user_id: UUID) -> int:
        cached = self._usage_cache.get(user_id)
        if cached is not None:
            return cached
        used = int(await self._db.value(_USED_BYTES, user_id) or 0)
        return self._usage_cache.store(user_id, user_id, used, _USAGE_TTL_S)

    def invalidate_user(self, user_id: UUID) -> None:
        """Query again next time, after something was stored or deleted."""
        self._usage_cache.invalidate_user(user_id)
