"""Base class of repositories whose queries are scoped to one owner."""

from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from sqlalchemy import Select, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.keyset import MAX_COUNTED_ROWS, ListPage, PageRequest, make_page
from app.db.tables import Base
from app.errors import NotFound

Row = TypeVar("Row", bound=Base)


class OwnedRepository(Generic[Row]):
    """Rows of one owner. Subclasses set the table and its noun; every query starts at `self.select_owned()`."""

    row: ClassVar[type[Any]]
    noun: ClassVar[str]

    def __init__(self, db: AsyncSession, owner: UUID) -> None:
        self.db = db
        self.owner = owner

    def select_owned(self) -> Select[Row]:
        return select(self.row).where(self.row.owner_id == self.owner)

    async def get(self, row_id: UUID) -> Row:
        """Return a row by id. Raises NotFound, also for another owner's row."""
        row = (await self.db.execute(self.select_owned().where(self.row.id == row_id))).scalar_one_or_none()
        if row is None:
            raise NotFound(f"{self.noun}_not_found", f"There is no {self.noun} with the id {row_id}.")
        return row

    async def page(self, portion: PageRequest) -> ListPage[Row]:
        return await self.read_page(self.select_owned(), portion)

    async def read_page(self, query: Select[Row], portion: PageRequest) -> ListPage[Row]:
        """Read one page of the query's rows, newest first."""
        rows = (await self.db.execute(self.bound_query(query, portion))).scalars().all()
        return make_page(rows, portion, await self.count(query, portion), lambda row: (row.created_at, row.id))

    def bound_query(self, query: Select[Any], portion: PageRequest) -> Select[Any]:
        """Add order and bounds to a query, with one row more than the limit to detect a next page."""
        at, last = self.row.created_at, self.row.id
        if portion.after:
            # `at <= after.at` is implied by the condition after it; only with it can an index seek to the row.
            after = portion.after
            query = query.where(at <= after.at, or_(at < after.at, last > after.id))
        return query.order_by(at.desc(), last).limit(portion.limit + 1).offset(portion.offset)

    async def count(self, query: Select[Any], portion: PageRequest) -> int:
        """Count the query's rows, up to MAX_COUNTED_ROWS; later pages repeat the count of the first."""
        if portion.after:
            return portion.after.total
        counted = query.with_only_columns(self.row.id).limit(MAX_COUNTED_ROWS).subquery()
        return int(await self.db.scalar(select(func.count()).select_from(counted)) or 0)
