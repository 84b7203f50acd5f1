"""Rows of one owner: an unscoped query cannot be written by accident."""

from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from sqlalchemy import Select, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.keyset import MAX_COUNTED, Part, Portion, part_of
from app.db.tables import Base
from app.errors import NotFound

Row = TypeVar("Row", bound=Base)


class OwnedRepository(Generic[Row]):
    """Subclasses name their table and its noun; every query here starts at `self.mine()`."""

    row: ClassVar[type[Any]]
    noun: ClassVar[str]

    def __init__(self, db: AsyncSession, owner: UUID) -> None:
        self.db = db
        self.owner = owner

    def mine(self) -> Select[Row]:
        return select(self.row).where(self.row.owner_id == self.owner)

    async def get(self, row_id: UUID) -> Row:
        """Raises NotFound also for somebody else's: it does not exist for this owner."""
        row = (await self.db.execute(self.mine().where(self.row.id == row_id))).scalar_one_or_none()
        if row is None:
            raise NotFound(f"{self.noun}_not_found", f"There is no {self.noun} with the id {row_id}.")
        return row

    async def page(self, portion: Portion) -> Part[Row]:
        return await self.part(self.mine(), portion)

    async def part(self, query: Select[Row], portion: Portion) -> Part[Row]:
        """Of what `query` finds, newest first."""
        rows = (await self.db.execute(self.cut(query, portion))).scalars().all()
        return part_of(rows, portion, await self.count(query, portion), lambda row: (row.created_at, row.id))

    def cut(self, query: Select[Any], portion: Portion) -> Select[Any]:
        """The query with its order and bounds, and one more than is wanted."""
        at, last = self.row.created_at, self.row.id
        if portion.after:
            # The first condition is what an index can jump to.
            after = portion.after
            query = query.where(at <= after.at, or_(at < after.at, last > after.id))
        return query.order_by(at.desc(), last).limit(portion.limit + 1).offset(portion.offset)

    async def count(self, query: Select[Any], portion: Portion) -> int:
        """How many there are, as far as they are counted."""
        if portion.after:
            return portion.after.total
        some = query.with_only_columns(self.row.id).limit(MAX_COUNTED).subquery()
        return int(await self.db.scalar(select(func.count()).select_from(some)) or 0)
