"""Repository of one owner's artifacts, without the locked hold-outs."""

from uuid import UUID

from sqlalchemy import Select, or_, select

from app.db.keyset import ListPage, PageRequest
from app.db.repository import OwnedRepository
from app.db.tables import ArtifactRow, SessionRow

HOLDOUT_KIND = "holdout"
"""Kind of the locked hold-out, and of the outputs of the model for its rows."""
HOLDOUT_NAME = "holdout"
"""Name of the hold-out itself, which the split locks."""


def is_lock(row: ArtifactRow) -> bool:
    """Tell if an artifact is the hold-out itself, whose step hides the rows from before it."""
    return row.kind == HOLDOUT_KIND and row.name == HOLDOUT_NAME


class ArtifactRepository(OwnedRepository[ArtifactRow]):
    """Artifacts of one owner; a hold-out is excluded until its session has ended."""

    row = ArtifactRow
    noun = "artifact"

    def select_owned(self) -> Select[ArtifactRow]:
        # Not by `exists`, which Postgres answers by reading all sessions: this is looked up for hold-outs only.
        ended_at = select(SessionRow.ended_at).where(SessionRow.id == ArtifactRow.session_id).scalar_subquery()
        return super().select_owned().where(or_(ArtifactRow.kind != HOLDOUT_KIND, ended_at.is_not(None)))

    async def page_of(
        self, session_id: UUID | None, kind: str | None, portion: PageRequest
    ) -> ListPage[ArtifactRow]:
        query = self.select_owned()
        if session_id is not None:
            query = query.where(ArtifactRow.session_id == session_id)
        if kind is not None:
            query = query.where(ArtifactRow.kind == kind)
        return await self.read_page(query, portion)
