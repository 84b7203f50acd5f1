"""Pages of lists: their parameters and their answers."""

from typing import Annotated, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field

from app.db.keyset import MAX_COUNTED_ROWS, Cursor, ListPage, PageRequest


class PageQuery(BaseModel):
    """Query parameters of a list: a page by offset."""

    limit: int = Field(default=50, ge=1, le=200)
    offset: int = Field(default=0, ge=0, le=1_000_000)


PageDep = Annotated[PageQuery, Query()]


class KeyedPageQuery(PageQuery):
    """Query parameters of a list that can be continued by a cursor."""

    after: str | None = Field(
        default=None,
        max_length=200,
        description="`next_cursor` of the previous page. Cheaper than an offset, and no item is repeated.",
    )

    @property
    def portion(self) -> PageRequest:
        """Raises InvalidInput."""
        return PageRequest(self.limit, self.offset, Cursor.parse(self.after) if self.after else None)


KeyedPageDep = Annotated[KeyedPageQuery, Query()]

Item = TypeVar("Item")


class Page(BaseModel, Generic[Item]):
    """A page of a list."""

    items: list[Item]
    total: int = Field(description=f"Number of items in the list; counting stops at {MAX_COUNTED_ROWS:,}.")
    limit: int
    offset: int
    next_cursor: str | None = Field(
        default=None,
        description="Send it as `after` to get the next page; null at the end, and for lists without cursors.",
    )


def numbered_page(page: PageQuery, items: list[Item], total: int) -> Page[Item]:
    return Page(items=items, total=total, limit=page.limit, offset=page.offset)


def keyed_page(page: KeyedPageQuery, part: ListPage[Item]) -> Page[Item]:
    return Page(
        items=list(part.items),
        total=part.total,
        limit=page.limit,
        offset=page.offset,
        next_cursor=str(part.next) if part.next else None,
    )
