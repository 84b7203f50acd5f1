"""The tables of a conversation: those of its workspace, and its datasets below them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import NAMESPACE_OID, UUID, uuid5

from app.datasets.dataset_source import DatasetRef, DatasetSource
from app.datasets.session_datasets import find_dataset
from app.workspaces.reader import SnapshotReader, TableArtifact
from app.workspaces.snapshot import Snapshot, TableEntry

DATASET_PREFIX = "dataset."
"""Before the name of a dataset that a table of the conversation hides."""


@dataclass(frozen=True)
class ConversationTables:
    """The datasets and the snapshot at one point of a conversation. `frames`: artifacts of tables by digest."""

    datasets: Sequence[DatasetRef]
    snapshot: Snapshot
    frames: Mapping[str, TableArtifact] = field(default_factory=dict)

    def list_refs(self) -> list[DatasetRef]:
        """List what can be read, each by its name: views have no digest."""
        own = [self._make_ref(name) for name in self.snapshot.names]
        return [*own, *(dataset for dataset in self.datasets if not self.is_hidden(dataset))]

    def is_hidden(self, dataset: DatasetRef) -> bool:
        """Test if a table of the conversation has the name of a dataset."""
        return self.snapshot.find(dataset.table) is not None

    def cell_inputs(self) -> dict[str, str]:
        """Return the inputs of `conversation_sql.run`: `{name: digest}`."""
        datasets = {f"{DATASET_PREFIX}{dataset.table}": dataset.digest for dataset in self.datasets}
        return datasets | {name: entry.digest for name, entry in self.snapshot.tables.items()}

    def view_queries(self) -> dict[str, str]:
        return {name: view.sql for name, view in self.snapshot.views.items()}

    def _make_ref(self, name: str) -> DatasetRef:
        entry = self.snapshot.names[name]
        if isinstance(entry, TableEntry):
            frame = self.frames.get(entry.digest)
            digest, profile, size_bytes = entry.digest, frame.profile if frame else {}, entry.size_bytes
        else:
            digest, profile, size_bytes = "", entry.profile, 0
        # A table has no row, and so no id of its own: this one is the same in every process.
        table_id = uuid5(NAMESPACE_OID, f"table {name}")
        return DatasetRef(table_id, name, name, digest, entry.rows, entry.columns, profile, size_bytes)


@dataclass(frozen=True)
class TableList:
    """A DatasetSource of given tables."""

    refs: Sequence[DatasetRef]

    async def list(self) -> Sequence[DatasetRef]:
        return self.refs

    async def get(self, name: str) -> DatasetRef:
        return find_dataset(self.refs, name)


@dataclass(frozen=True)
class Conversation:
    """A DatasetSource over the workspace before and in a turn, and the datasets of the turn."""

    turn_id: UUID
    datasets: DatasetSource
    snapshots: SnapshotReader

    async def read_snapshot(self) -> Snapshot:
        """Read the workspace as it is now: of an earlier call of this turn, or of the turns before."""
        return await self.snapshots.read(self.turn_id)

    async def tables(self) -> ConversationTables:
        tables = await self.tables_without_profiles()
        digests = [entry.digest for entry in tables.snapshot.tables.values()]
        return replace(tables, frames=await self.snapshots.list_frames(digests)) if digests else tables

    async def tables_without_profiles(self) -> ConversationTables:
        """Return the tables for work that reads their files alone, such as SQL: one query less."""
        return ConversationTables(await self.datasets.list(), await self.read_snapshot())

    async def list(self) -> Sequence[DatasetRef]:
        return (await self.tables()).list_refs()

    async def get(self, name: str) -> DatasetRef:
        return find_dataset(await self.list(), name)
