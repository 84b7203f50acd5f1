"""What a process remembers of users for a few seconds, so that it need not ask at each request."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from uuid import UUID

_REMEMBERED = 10_000
Known = TypeVar("Known")


class TtlCache(Generic[Known]):
    """The latest answers by key, each good until its time."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._known: OrderedDict[Hashable, tuple[float, UUID, Known]] = OrderedDict()
        self.generation = 0
        """Number of `forget` calls so far: an answer that was asked for before one of them may be outdated."""

    def fresh(self, key: Hashable) -> Known | None:
        until, _, known = self._known.get(key, (0.0, None, None))
        return known if self._monotonic() < until else None

    def stale(self, key: Hashable) -> Known | None:
        """The last answer, however old."""
        return self._known[key][2] if key in self._known else None

    def keep(
        self, key: Hashable, user_id: UUID, known: Known, for_s: float, generation: int | None = None
    ) -> Known:
        """Return `known`, remembered unless something was forgotten since `generation`.

        A question that was under way during a revocation would otherwise bring back what was just forgotten.
        """
        if generation is not None and generation != self.generation:
            return known
        self._known[key] = (self._monotonic() + for_s, user_id, known)
        self._known.move_to_end(key)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return known

    def forget(self, user_id: UUID) -> None:
        self.generation += 1
        for key in [key for key, (_, whose, _) in self._known.items() if whose == user_id]:
            del self._known[key]
