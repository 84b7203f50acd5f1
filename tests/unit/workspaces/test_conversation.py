"""What a conversation reads of its tables: no more than its work needs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast
from uuid import UUID, uuid4

from app.datasets.dataset_source import DatasetRef
from app.datasets.session_datasets import SessionDatasets
from app.db.unit_of_work import OpenUnitOfWork
from app.workspaces.conversation import Conversation, TableList
from app.workspaces.reader import SnapshotReader, TableArtifact
from app.workspaces.snapshot import Snapshot, TableEntry

SNAPSHOT = Snapshot(names={"cities": TableEntry(digest="a" * 64, size_bytes=1, rows=1, columns=[])})


@dataclass
class RecordedReads:
    """A reader of one snapshot that records what was read."""

    reads: list[str] = field(default_factory=list)

    async def read(self, turn_id: UUID | None) -> Snapshot:
        self.reads.append("snapshot")
        return SNAPSHOT

    async def list_frames(self, digests: Iterable[str]) -> dict[str, TableArtifact]:
        self.reads.append("frames")
        return {digest: TableArtifact(uuid4(), {"rows": 1}) for digest in digests}


def make_conversation(reads: RecordedReads, datasets: Sequence[DatasetRef] = ()) -> Conversation:
    return Conversation(uuid4(), TableList(datasets), cast(SnapshotReader, reads))


async def test_sql_reads_no_profiles() -> None:
    reads = RecordedReads()
    tables = await make_conversation(reads).tables_without_profiles()
    assert reads.reads == ["snapshot"]
    assert tables.cell_inputs() == {"cities": "a" * 64}


async def test_tables_have_their_profiles() -> None:
    (ref,) = await make_conversation(RecordedReads()).list()
    assert ref.profile == {"rows": 1}


async def test_a_conversation_without_datasets_opens_no_transaction_for_them() -> None:
    def refuse() -> None:
        raise AssertionError("a transaction was opened")

    assert await SessionDatasets(cast(OpenUnitOfWork, refuse), uuid4(), ()).list() == []
