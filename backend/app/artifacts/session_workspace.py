"""The workspace of a session: frames and other artifacts by name, read from its rows."""

from collections.abc import Sequence, Set
from uuid import UUID

from sqlalchemy import select

from app.artifacts.repository import is_lock
from app.artifacts.workspace import FileRef, FrameRef
from app.db.tables import ArtifactRow
from app.db.unit_of_work import OpenUnitOfWork
from app.modeling.problem.name_resolution import resolve_name
from app.storage.blobs import Blob, BlobStore

FRAME_KIND = "frame"
FILE_KINDS = frozenset({"text", "table", "figure", "pdf", "other"})
"""Kinds of artifacts that are files of the workspace."""


class SessionWorkspace:
    """A Workspace over the rows of one session."""

    def __init__(self, open_uow: OpenUnitOfWork, blobs: BlobStore, owner: UUID, session_id: UUID) -> None:
        self._open_uow = open_uow
        self._blobs = blobs
        self._owner = owner
        self._session_id = session_id

    async def frame(self, name: str) -> FrameRef:
        return _find_ref(await self.frames(), name, FRAME_KIND)

    async def frames(self) -> list[FrameRef]:
        return newest_refs(await self._visible_rows(frozenset({FRAME_KIND})))

    async def artifact(self, kind: str, name: str) -> FrameRef:
        return _find_ref(await self.artifacts(kind), name, kind)

    async def artifacts(self, kind: str) -> list[FrameRef]:
        return newest_refs([row for row in await self._rows() if row.kind == kind])

    async def files(self) -> list[FileRef]:
        # Rows come oldest first: of each name the newest stays.
        by_name = {row.name: row for row in await self._visible_rows(FILE_KINDS)}
        return [FileRef(name, row.digest, row.size_bytes) for name, row in sorted(by_name.items())]

    async def file(self, name: str) -> FileRef:
        files = {file.name: file for file in await self.files()}
        return files[resolve_name(name, files, "file")]

    async def read(self, file: FileRef) -> bytes:
        return b"".join([piece async for piece in self._blobs.open(file.digest)])

    async def put(self, data: bytes) -> Blob:
        return await self._blobs.put_bytes(data)

    async def is_split(self) -> bool:
        """Check whether the hold-out is locked; from then on only training rows are visible."""
        return any(is_lock(row) for row in await self._rows())

    async def _visible_rows(self, kinds: Set[str]) -> Sequence[ArtifactRow]:
        """List visible artifacts of these kinds, oldest first."""
        return visible_rows(await self._rows(), kinds)

    async def _rows(self) -> Sequence[ArtifactRow]:
        query = (
            select(ArtifactRow)
            .where(ArtifactRow.owner_id == self._owner, ArtifactRow.session_id == self._session_id)
            # Oldest first, which `newest_refs` counts on.
            .order_by(ArtifactRow.seq, ArtifactRow.created_at, ArtifactRow.id)
        )
        async with self._open_uow() as uow:
            return (await uow.db.execute(query)).scalars().all()


def visible_rows(rows: Sequence[ArtifactRow], kinds: Set[str]) -> list[ArtifactRow]:
    """Select visible rows of these kinds: after the split, only those of its step or later.

    Earlier artifacts contain rows of the hold-out.
    """
    split_seq = max((row.seq for row in rows if is_lock(row)), default=0)
    return [row for row in rows if row.kind in kinds and row.seq >= split_seq]


def newest_refs(rows: Sequence[ArtifactRow]) -> list[FrameRef]:
    """Select the newest row of each name, in the order in which the names first occur."""
    # Rows come oldest first: of each name the newest stays, at the place of the oldest.
    by_name = {row.name: row for row in rows}
    return [FrameRef(row.name, row.digest, row.meta) for row in by_name.values()]


def _find_ref(refs: Sequence[FrameRef], name: str, noun: str) -> FrameRef:
    exact_name = resolve_name(name, [ref.name for ref in refs], noun)
    return next(ref for ref in refs if ref.name == exact_name)
