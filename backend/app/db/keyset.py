"""Lists that are read on from where a page ended: what came before costs nothing, and nothing comes twice.

Newest first; rows of one moment in the order of their ids.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Self, TypeVar
from uuid import UUID

from app.errors import InvalidInput

MAX_COUNTED = 1_000
"""A list tells its length up to here: counting on would cost more than the page."""

Item = TypeVar("Item")
Other = TypeVar("Other")


@dataclass(frozen=True)
class Cursor:
    """The last item that was read, and how long the list was when it was begun."""

    at: datetime
    id: UUID
    total: int

    def __str__(self) -> str:
        return urlsafe_b64encode(f"{self.at.isoformat()} {self.id} {self.total}".encode()).decode()

    @classmethod
    def read(cls, text: str) -> Self:
        """Raises InvalidInput."""
        try:
            at, id_, total = urlsafe_b64decode(text.encode()).decode().split(" ")
            cursor = cls(datetime.fromisoformat(at), UUID(id_), int(total))
        except (ValueError, binascii.Error) as error:
            raise _bad_cursor() from error
        if cursor.at.tzinfo is None or not 0 <= cursor.total <= MAX_COUNTED:
            raise _bad_cursor()
        return cursor


def _bad_cursor() -> InvalidInput:
    return InvalidInput("bad_cursor", "`after` must be the `next` of a page of this list.", field="after")


@dataclass(frozen=True)
class Portion:
    """Requested part of a list."""

    limit: int
    offset: int = 0
    after: Cursor | None = None


@dataclass(frozen=True)
class Part(Generic[Item]):
    """`next`: what to go on after; None at the end."""

    items: Sequence[Item]
    total: int
    next: Cursor | None = None

    def each(self, view: "Callable[[Item], Other]") -> "Part[Other]":
        return Part([view(item) for item in self.items], self.total, self.next)


def part_of(
    rows: Sequence[Item], portion: Portion, total: int, place: Callable[[Item], tuple[datetime, UUID]]
) -> Part[Item]:
    """`found`: one more than was wanted, if there are more."""
    items = rows[: portion.limit]
    more = len(rows) > portion.limit
    return Part(items, total, Cursor(*place(items[-1]), total) if more else None)
