"""Keyset pagination: a page continues after the last row of the page before, at the same cost for every page.

Order: newest first, then id.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Self, TypeVar
from uuid import UUID

from app.errors import InvalidInput

MAX_COUNTED_ROWS = 1_000
"""Rows that are counted for a list's length: counting more would cost more than reading the page."""

Item = TypeVar("Item")
View = TypeVar("View")


@dataclass(frozen=True)
class Cursor:
    """Position of the last row read, and the list's length at its first page."""

    at: datetime
    id: UUID
    total: int

    def __str__(self) -> str:
        return urlsafe_b64encode(f"{self.at.isoformat()} {self.id} {self.total}".encode()).decode()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a cursor from a query parameter. Raises InvalidInput."""
        try:
            at, id_, total = urlsafe_b64decode(text.encode()).decode().split(" ")
            cursor = cls(datetime.fromisoformat(at), UUID(id_), int(total))
        except (ValueError, binascii.Error) as error:
            raise _bad_cursor() from error
        # A cursor comes from a client: its total is shown without being counted again.
        if cursor.at.tzinfo is None or not 0 <= cursor.total <= MAX_COUNTED_ROWS:
            raise _bad_cursor()
        return cursor


def _bad_cursor() -> InvalidInput:
    return InvalidInput("bad_cursor", "`after` must be the `next` of a page of this list.", field="after")


@dataclass(frozen=True)
class PageRequest:
    """Requested page of a list: by `offset`, or after a cursor."""

    limit: int
    offset: int = 0
    after: Cursor | None = None


@dataclass(frozen=True)
class ListPage(Generic[Item]):
    """One page of a list. `next`: the cursor of the next page, None on the last."""

    items: Sequence[Item]
    total: int
    next: Cursor | None = None

    def map(self, view: "Callable[[Item], View]") -> "ListPage[View]":
        return ListPage([view(item) for item in self.items], self.total, self.next)


def make_page(
    rows: Sequence[Item], request: PageRequest, total: int, position: Callable[[Item], tuple[datetime, UUID]]
) -> ListPage[Item]:
    """Make a page of `rows`, which holds one row more than the limit when there is a next page."""
    items = rows[: request.limit]
    more = len(rows) > request.limit
    return ListPage(items, total, Cursor(*position(items[-1]), total) if more else None)
