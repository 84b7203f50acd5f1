"""The frames that a run may read: those of its session and of earlier runs in it."""

from collections.abc import Sequence, Set
from uuid import UUID

from sqlalchemy import or_, select

from app.artifacts.repository import HOLDOUT_KIND, is_lock
from app.artifacts.session_workspace import FRAME_KIND, SessionWorkspace, newest_refs, visible_rows
from app.artifacts.workspace import FrameRef
from app.db.tables import ArtifactRow, SessionRow
from app.db.unit_of_work import OpenUnitOfWork
from app.sessions.holdout_looks import AFTER_END, HoldoutLooks, LookKind
from app.storage.blobs import BlobStore


class RunWorkspace(SessionWorkspace):
    """A Workspace over a session and the runs inside it.

    While the hold-out of the session is locked, only frames of runs that began after the lock are visible: an
    earlier run may have read every row. After the session's end everything is, the hold-out frame included.
    """

    def __init__(
        self, open_uow: OpenUnitOfWork, blobs: BlobStore, owner: UUID, session_id: UUID, looks: HoldoutLooks
    ) -> None:
        super().__init__(open_uow, blobs, owner, session_id)
        self._looks = looks

    async def frames(self) -> list[FrameRef]:
        """List the frames. To see the hold-out among them counts as a look at it, once for the session."""
        rows = await self._visible_rows(frozenset({FRAME_KIND, HOLDOUT_KIND}))
        if any(row.kind == HOLDOUT_KIND for row in rows):
            await self._looks.count(self._session_id, AFTER_END, LookKind.FRAME)
        return newest_refs(rows)

    async def _visible_rows(self, kinds: Set[str]) -> Sequence[ArtifactRow]:
        session, own, run_rows = await self._load_rows()
        if session.ended_at is not None:
            return [row for row in (*own, *(row for row, _ in run_rows)) if row.kind in kinds]
        open_kinds = kinds - {HOLDOUT_KIND}
        # Without a lock nothing is hidden: all runs began later than the session.
        locked_at = max((row.created_at for row in own if is_lock(row)), default=session.created_at)
        later = [row for row, run in run_rows if row.kind in open_kinds and run.created_at >= locked_at]
        return [*visible_rows(own, open_kinds), *later]

    async def is_split(self) -> bool:
        session, own, _ = await self._load_rows()
        return session.ended_at is None and any(is_lock(row) for row in own)

    async def _load_rows(
        self,
    ) -> tuple[SessionRow, Sequence[ArtifactRow], Sequence[tuple[ArtifactRow, SessionRow]]]:
        statement = (
            select(ArtifactRow, SessionRow)
            .join(SessionRow, SessionRow.id == ArtifactRow.session_id)
            .where(
                ArtifactRow.owner_id == self._owner,
                or_(SessionRow.id == self._session_id, SessionRow.parent_id == self._session_id),
            )
            .order_by(ArtifactRow.created_at, ArtifactRow.id)
        )
        async with self._open_uow() as uow:
            session = await uow.db.get_one(SessionRow, self._session_id)
            rows = [(row, made_by) for row, made_by in (await uow.db.execute(statement)).all()]
        own = [row for row, made_by in rows if made_by.id == self._session_id]
        return session, own, [(row, run) for row, run in rows if run.id != self._session_id]
