"""Description of the workspace of a worldline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from app.datasets.dataset_source import DatasetSource
from app.workspaces.conversation import ConversationTables
from app.workspaces.reader import SnapshotReader
from app.workspaces.schemas import WorkspaceFile, WorkspaceTable, WorkspaceVariable, WorkspaceView, make_columns
from app.workspaces.snapshot import TableEntry


@dataclass(frozen=True)
class WorkspaceDescriptions:
    """Describes workspaces of one owner. `datasets_of`: the datasets of these ids."""

    snapshots: SnapshotReader
    datasets_of: Callable[[Sequence[UUID]], DatasetSource]

    async def describe(self, worldline_id: UUID) -> WorkspaceView:
        """Describe the workspace at the end of a worldline. Raises NotFound."""
        worldline = await self.snapshots.get_worldline(worldline_id)
        tables = await self.read_tables(worldline.head_id, worldline.dataset_ids)
        files = tables.snapshot.files
        artifacts = await self.snapshots.list_files(entry.digest for entry in files.values())
        return WorkspaceView(
            worldline_id=worldline.id,
            thread_id=worldline.thread_id,
            head=worldline.head_id,
            tables=describe_tables(tables),
            files=[
                WorkspaceFile(
                    name=name,
                    size_bytes=entry.size_bytes,
                    media_type=entry.media_type,
                    artifact=artifacts.get(entry.digest),
                )
                for name, entry in sorted(files.items())
            ],
            variables=[
                WorkspaceVariable(name=name, type=entry.type, text=entry.text)
                for name, entry in sorted(tables.snapshot.variables.items())
            ],
        )

    async def read_tables(self, turn_id: UUID | None, dataset_ids: Sequence[UUID]) -> ConversationTables:
        snapshot = await self.snapshots.read(turn_id)
        digests = [entry.digest for entry in snapshot.tables.values()]
        frames = await self.snapshots.list_frames(digests)
        return ConversationTables(await self.datasets_of(dataset_ids).list(), snapshot, frames)


def describe_tables(tables: ConversationTables) -> list[WorkspaceTable]:
    hidden = {dataset.table.casefold() for dataset in tables.datasets if tables.is_hidden(dataset)}
    described = []
    for name, entry in sorted(tables.snapshot.names.items()):
        frame = tables.frames.get(entry.digest) if isinstance(entry, TableEntry) else None
        described.append(
            WorkspaceTable(
                name=name,
                kind=entry.kind,
                rows=entry.rows,
                columns=make_columns(entry.columns),
                sql=None if isinstance(entry, TableEntry) else entry.sql,
                artifact=frame.artifact_id if frame else None,
                size_bytes=entry.size_bytes if isinstance(entry, TableEntry) else None,
                hides_dataset=name.casefold() in hidden,
            )
        )
    return described
