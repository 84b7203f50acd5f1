"""Rows of one owner: an unscoped query cannot be written by accident."""

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

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
        found = (await self.db.execute(self.mine().where(self.row.id == row_id))).scalar_one_or_none()
        if found is None:
            raise NotFound(f"{self.noun}_not_found", f"There is no {self.noun} with the id {row_id}.")
        return found

    async def page(self, limit: int, offset: int) -> tuple[Sequence[Row], int]:
        """Newest first, and how many there are in all."""
        query = self.mine()
        total = await self.db.scalar(select(func.count()).select_from(query.subquery()))
        newest = query.order_by(self.row.created_at.desc(), self.row.id).limit(limit).offset(offset)
        return (await self.db.execute(newest)).scalars().all(), int(total or 0)
