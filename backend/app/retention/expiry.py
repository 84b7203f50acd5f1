"""Lets go what has been kept for long enough, in batches that hold no lock for long."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from app.artifacts.sweep import count_sweepable_blobs, sweep_blobs
from app.db.pool import Database
from app.retention.config import DAY_S, Retention
from app.retention.kinds import KINDS, Kind
from app.storage.blobs import BlobStore

BLOBS = "blobs"
_BREATH_S = 0.02


@dataclass(frozen=True)
class Due:
    """How many of a kind are past their time. `keep_days`: 0 is for ever."""

    kind: str
    keep_days: float
    number: int


@dataclass(frozen=True)
class Retiring:
    db: Database
    blobs: BlobStore
    keep: Retention

    async def due(self) -> AsyncIterator[Due]:
        """What `run` would let go now, by kind; nothing is changed."""
        for kind in KINDS:
            days = kind.keep_days(self.keep)
            row = await self.db.row(kind.count, days * DAY_S) if days else None
            yield Due(kind.name, days, row["due"] if row else 0)
        days = self.keep.blobs_days
        yield Due(BLOBS, days, await count_sweepable_blobs(self.db, self.blobs, days * DAY_S))

    async def run(self) -> AsyncIterator[tuple[str, int]]:
        """Let everything go that is due; of each kind how many there were."""
        for kind in KINDS:
            yield kind.name, await self._retire(kind)
        yield BLOBS, await sweep_blobs(self.db, self.blobs, self.keep.blobs_days * DAY_S)

    async def _retire(self, kind: Kind) -> int:
        days, gone = kind.keep_days(self.keep), 0
        if not days:
            return 0
        while True:
            row = await self.db.row(kind.batch, days * DAY_S, kind.most)
            batch = int(row["gone"]) if row else 0
            gone += batch
            if not batch:
                return gone
            await asyncio.sleep(_BREATH_S)
