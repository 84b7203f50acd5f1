"""How many bytes a user's datasets and artifacts hold, and whether there is room for more."""

import time
from collections.abc import Callable
from uuid import UUID

from app.auth.principal import Principal
from app.auth.quotas import MIB
from app.auth.ttl_cache import TtlCache
from app.db.pool import Database
from app.errors import TooMany

_USAGE_TTL_S = 20.0

_USED_BYTES = """
select coalesce((select sum(size_bytes) from datasets where owner_id = $1), 0)
  + coalesce((select sum(size_bytes) from artifacts where owner_id = $1), 0) as bytes
"""


class StorageQuota:
    """The sum is asked for at most once in _FRESH_S for each user: it is a quota, not a balance."""

    def __init__(self, db: Database, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._db = db
        self._usage_cache: TtlCache[int] = TtlCache(monotonic)

    async def require(self, who: Principal, more_bytes: int = 0) -> None:
        """Raises TooMany when `who` holds the quota, or would with so much more."""
        most = who.quotas.stored_mb * MIB
        if not most:
            return
        held = await self.used_bytes(who.user_id)
        if held + more_bytes >= most:
            raise TooMany(
                "storage_full",
                f"Your datasets and artifacts hold {held:,} of {most:,} bytes. Delete some, or ask an admin.",
                held_bytes=held,
                limit_bytes=most,
            )

    async def used_bytes(self, user_id: UUID) -> int:
        known = self._usage_cache.get(user_id)
        if known is not None:
            return known
        row = await self._db.row(_USED_BYTES, user_id)
        return self._usage_cache.store(user_id, user_id, int(row["bytes"]) if row else 0, _USAGE_TTL_S)

    def invalidate_user(self, user_id: UUID) -> None:
        """After something was stored or deleted: ask anew."""
        self._usage_cache.invalidate_user(user_id)
