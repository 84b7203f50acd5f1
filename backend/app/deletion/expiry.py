"""Deletion of rows and blobs past their retention period, in short transactions."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from app.artifacts.blob_sweep import count_sweepable_blobs, sweep_blobs
from app.db.pool import Database
from app.deletion.expiry_statements import KINDS, ExpiryKind
from app.deletion.retention_periods import DAY_S, RetentionPeriods
from app.storage.blobs import BlobStore

BLOBS_KIND = "blobs"
_BATCH_PAUSE_S = 0.02
"""Pause after a batch, which leaves the database to the service's own statements."""


@dataclass(frozen=True)
class DueCount:
    """Rows of a kind that are past their period. `keep_days`: 0 keeps for ever."""

    kind: str
    keep_days: float
    count: int


@dataclass(frozen=True)
class Expiry:
    """Apply the retention periods to all kinds of rows and to blobs."""

    db: Database
    blobs: BlobStore
    periods: RetentionPeriods

    async def count_due(self) -> AsyncIterator[DueCount]:
        """Count what `run` would delete now, by kind."""
        for kind in KINDS:
            days = kind.keep_days(self.periods)
            due = int(await self.db.value(kind.count, days * DAY_S)) if days else 0
            yield DueCount(kind.name, days, due)
        days = self.periods.blobs_days
        yield DueCount(BLOBS_KIND, days, await count_sweepable_blobs(self.db, self.blobs, days * DAY_S))

    async def run(self) -> AsyncIterator[tuple[str, int]]:
        """Delete everything that is due; yield each kind with the number of deleted rows."""
        for kind in KINDS:
            yield kind.name, await self._delete_due(kind)
        yield BLOBS_KIND, await sweep_blobs(self.db, self.blobs, self.periods.blobs_days * DAY_S)

    async def _delete_due(self, kind: ExpiryKind) -> int:
        days, deleted = kind.keep_days(self.periods), 0
        if not days:
            return 0
        while True:
            batch = int(await self.db.value(kind.batch, days * DAY_S, kind.max_batch) or 0)
            deleted += batch
            if not batch:
                return deleted
            await asyncio.sleep(_BATCH_PAUSE_S)
