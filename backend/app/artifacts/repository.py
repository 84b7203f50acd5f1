"""Repository of one owner's artifacts, without the locked hold-outs."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, or_, select

from app.db.keyset import ListPage, PageRequest
from app.db.repository import OwnedRepository
from app.db.tables import ArtifactRow, SessionRow, ThreadRow, TurnRow, WorldlineRow

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

    async def page_of(self, selection: "ArtifactSelection", portion: PageRequest) -> ListPage[ArtifactRow]:
        query = self.select_owned()
        if selection.session_id is not None:
            query = query.where(ArtifactRow.session_id == selection.session_id)
        if selection.thread_id is not None:
            turns = select(TurnRow.session_id).join(ThreadRow).where(ThreadRow.id == selection.thread_id)
            query = query.where(ArtifactRow.session_id.in_(turns.where(ThreadRow.deleted_at.is_(None))))
        if selection.worldline_id is not None:
            query = query.where(ArtifactRow.session_id.in_(_select_path(selection.worldline_id)))
        if selection.kind is not None:
            query = query.where(ArtifactRow.kind == selection.kind)
        return await self.read_page(query, portion)


@dataclass(frozen=True)
class ArtifactSelection:
    """Artifacts of a list: those that satisfy every field that is set."""

    session_id: UUID | None = None
    kind: str | None = None
    thread_id: UUID | None = None
    worldline_id: UUID | None = None


def _select_path(worldline_id: UUID) -> Select[UUID]:
    """Select the turns of a worldline from its head back to the root."""
    head = select(TurnRow.session_id, TurnRow.parent_id)
    head = head.join(WorldlineRow, WorldlineRow.head_id == TurnRow.session_id)
    head = head.join(ThreadRow, ThreadRow.id == WorldlineRow.thread_id)
    path = head.where(WorldlineRow.id == worldline_id, ThreadRow.deleted_at.is_(None)).cte(
        "path", recursive=True
    )
    earlier = select(TurnRow.session_id, TurnRow.parent_id).join(path, TurnRow.session_id == path.c.parent_id)
    return select(path.union_all(earlier).c.session_id)
