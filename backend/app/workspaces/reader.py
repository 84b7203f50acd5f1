"""Read access of one owner to the snapshots of their conversations."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from pydantic import TypeAdapter

from app.db.pool import Database
from app.db.statements import load
from app.errors import NotFound
from app.workspaces.snapshot import Entry, Snapshot

WORKSPACES = load("app.workspaces", "workspaces")
_NAMES = TypeAdapter(Mapping[str, Entry])


class WorldlineHead(NamedTuple):
    id: UUID
    thread_id: UUID
    head_id: UUID | None
    dataset_ids: list[UUID]


class TableArtifact(NamedTuple):
    """The artifact with the rows of a table, and their profile."""

    artifact_id: UUID
    profile: Mapping[str, Any]


@dataclass(frozen=True)
class SnapshotReader:
    db: Database
    owner: UUID

    async def read(self, turn_id: UUID | None) -> Snapshot:
        """Return the workspace after a turn; None is the empty one before the first."""
        if turn_id is None:
            return Snapshot()
        meta = await self.db.value(WORKSPACES.read_snapshot, turn_id, self.owner)
        return Snapshot.model_validate_json(meta) if meta else Snapshot()

    async def list_table_states(self, turn_id: UUID, limit: int) -> list[Mapping[str, Entry]]:
        """Return the tables and views after each of the last turns that stored some, the newest first."""
        rows = await self.db.rows(WORKSPACES.list_table_states, turn_id, self.owner, limit)
        return [_NAMES.validate_json(row["names"]) for row in rows]

    async def list_frames(self, digests: Iterable[str]) -> dict[str, TableArtifact]:
        """Return the artifacts of tables by digest."""
        rows = await self.db.rows(WORKSPACES.list_frames, self.owner, list(digests))
        return {
            row["digest"]: TableArtifact(row["id"], json.loads(row["profile"]) if row["profile"] else {})
            for row in rows
        }

    async def list_files(self, digests: Iterable[str]) -> dict[str, UUID]:
        """Return the artifacts of files by digest."""
        rows = await self.db.rows(WORKSPACES.list_files, self.owner, list(digests))
        return {row["digest"]: row["id"] for row in rows}

    async def get_worldline(self, worldline_id: UUID) -> WorldlineHead:
        """Raises NotFound."""
        row = await self.db.row(WORKSPACES.get_worldline, worldline_id, self.owner)
        if row is None:
            raise NotFound("worldline_not_found", f"There is no worldline with the id {worldline_id}.")
        return WorldlineHead(**row)
