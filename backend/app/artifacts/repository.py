"""Rows of artifacts, of one owner, without what the owner may not see yet."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Select, exists, func, or_, select

from app.db.repository import OwnedRepository
from app.db.tables import ArtifactRow, SessionRow

HOLDOUT = "holdout"


class ArtifactRepository(OwnedRepository[ArtifactRow]):
    """The locked hold-out does not exist here before its session has ended."""

    row = ArtifactRow
    noun = "artifact"

    def mine(self) -> Select[ArtifactRow]:
        ended = exists().where(SessionRow.id == ArtifactRow.session_id, SessionRow.ended_at.is_not(None))
        return super().mine().where(or_(ArtifactRow.kind != HOLDOUT, ended))

    async def page_of(
        self, session_id: UUID | None, kind: str | None, limit: int, offset: int
    ) -> tuple[Sequence[ArtifactRow], int]:
        """In the order they were made, newest first, and how many there are."""
        query = self.mine()
        if session_id is not None:
            query = query.where(ArtifactRow.session_id == session_id)
        if kind is not None:
            query = query.where(ArtifactRow.kind == kind)
        total = await self.db.scalar(select(func.count()).select_from(query.subquery()))
        newest = query.order_by(ArtifactRow.created_at.desc(), ArtifactRow.id).limit(limit).offset(offset)
        return (await self.db.execute(newest)).scalars().all(), int(total or 0)
