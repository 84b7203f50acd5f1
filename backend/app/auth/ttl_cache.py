"""A small in-process cache of users' credentials and quotas, so that not every request asks Postgres."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from uuid import UUID

_MAX_ENTRIES = 10_000
"""Number of entries; each takes about 1 kB, so 10 MB at most for a process."""
Value = TypeVar("Value")


class TtlCache(Generic[Value]):
    """The latest values by key, each with its own expiry; the oldest goes first when the cache is full."""

    # `cachetools.TLRUCache` would cover expiry and size, but it drops expired values, which `get_stale` needs
    # for charging without a query, and it has no way to remove a user's entries or to count invalidations.
    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._entries: OrderedDict[Hashable, tuple[float, UUID, Value]] = OrderedDict()
        self.generation = 0
        """Number of invalidations so far: a value requested before one of them may be outdated."""

    def get(self, key: Hashable) -> Value | None:
        """Return the value, or None when there is none or it has expired."""
        expires_s, _, value = self._entries.get(key, (0.0, None, None))
        return value if self._monotonic() < expires_s else None

    def get_stale(self, key: Hashable) -> Value | None:
        """Return the last value, however old."""
        return self._entries[key][2] if key in self._entries else None

    def store(
        self, key: Hashable, user_id: UUID, value: Value, ttl_s: float, generation: int | None = None
    ) -> Value:
        """Return `value`; store it unless an entry was invalidated since `generation`.

        A query that was running during a revocation would otherwise restore the value that was just removed.
        """
        if generation is not None and generation != self.generation:
            return value
        self._entries[key] = (self._monotonic() + ttl_s, user_id, value)
        # An entry that is stored anew is the youngest again.
        self._entries.move_to_end(key)
        if len(self._entries) > _MAX_ENTRIES:
            self._entries.popitem(last=False)
        return value

    def invalidate_user(self, user_id: UUID) -> None:
        """Remove all entries of a user."""
        self.generation += 1
        # All entries are looked at: revocations are rare, and an index by user would cost every store.
        for key in [key for key, (_, owner, _) in self._entries.items() if owner == user_id]:
            del self._entries[key]
