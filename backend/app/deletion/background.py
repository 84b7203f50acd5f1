"""Background tasks of a worker: completing deletions and applying retention periods."""

import asyncio
import logging
import random
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from redis.asyncio import Redis

from app.db.pool import Database
from app.deletion.accounts import AccountDeletions
from app.deletion.deletions import LEASE_S, Deletions
from app.deletion.expiry import Expiry
from app.deletion.periodic_work import claim_chore
from app.deletion.retention_periods import DAY_S, RetentionPeriods
from app.deletion.stale_files import remove_stale_copies, remove_stale_files
from app.jobs import SendJob
from app.observability.metrics.deletion import RETIRED
from app.sessions.events.publisher import EventPublisher
from app.storage.blobs import BlobStore

log = logging.getLogger(__name__)

_SWEEP_PERIOD_S = 3_600.0
"""Period of retention for the whole fleet: periods are days, so that an hour more does not matter."""
_CHECK_PERIOD_S = _SWEEP_PERIOD_S / 4
"""Period after which each process checks for due retention, so that it is at most a quarter late."""
_START_DELAY_S = 60.0
"""Retention starts after a minute, to keep the start of a worker fast."""
_RETRY_S = 1.0
"""Pause before a deletion is tried again whose sessions have not ended."""

_CLAIM = """
update deletions set lease_until = now() + $1 * interval '1 second'
where id = (
  select id from deletions where done_at is null and (lease_until is null or lease_until < now())
  order by asked_at limit 1 for update skip locked)
returning id, kind, target_id, owner_id, asked_by
"""
_POSTPONE = """
update deletions set lease_until = now() + $2 * interval '1 second' where id = $1 and done_at is null
returning id
"""


class ClaimedDeletion(NamedTuple):
    """A row of `_CLAIM`."""

    id: UUID
    kind: str
    target_id: UUID
    owner_id: UUID
    asked_by: str


@dataclass(frozen=True)
class RetentionWorker:
    """Complete deletions and apply retention periods.

    `home`: this host's data folder. `store`: the folder of blobs, if they are stored in one. `every_s`: period
    of looking for deletions.
    """

    db: Database
    redis: Redis
    tail: EventPublisher
    send: SendJob
    blobs: BlobStore
    periods: RetentionPeriods
    home: Path
    store: Path | None = None
    every_s: float = 2.0

    @property
    def deletions(self) -> Deletions:
        return Deletions(self.db, self.redis, self.tail, self.send)

    @property
    def accounts(self) -> AccountDeletions:
        return AccountDeletions(self.db, self.redis, self.deletions)

    async def resume_deletion(self) -> bool:
        """Resume one deletion that no other process works on; False when there is none."""
        row = await self.db.row(_CLAIM, LEASE_S)
        if row is None:
            return False
        deletion = ClaimedDeletion(**row)
        if not await self._resume(deletion):
            await self.db.row(_POSTPONE, deletion.id, _RETRY_S)
        return True

    async def _resume(self, deletion: ClaimedDeletion) -> bool:
        """Delete what can be deleted now; False when a session must end first."""
        if deletion.kind == "user":
            return await self.accounts.resume(deletion.id, deletion.target_id)
        if deletion.kind == "thread":
            # Its sessions have deletions of their own from now on.
            await self.deletions.resume_thread(deletion.owner_id, deletion.target_id, deletion.asked_by)
            return True
        return not await self.deletions.delete_ended([deletion.target_id])

    async def resume_all_deletions(self) -> None:
        """Resume deletions until none can proceed now."""
        # A deletion that has to wait is leased for a moment, and so not claimed again in this round.
        while await self.resume_deletion():
            pass

    async def apply_retention(self) -> None:
        """Apply retention to the database, if no process did so in the last hour, and to this host's files."""
        if await claim_chore(self.db, "retention", _SWEEP_PERIOD_S):
            async for kind, deleted in Expiry(self.db, self.blobs, self.periods).run():
                RETIRED.labels(kind).inc(deleted)
        # Not once for the fleet: every host has files of its own.
        max_age_s = self.periods.files_days * DAY_S
        RETIRED.labels("files").inc(await remove_stale_files(self.home, self.store, max_age_s))
        RETIRED.labels("copies").inc(await remove_stale_copies(self.home, self.blobs))

    async def run_deletions(self) -> None:
        """Resume deletions until cancelled; an error is logged and does not stop the loop."""
        while True:
            await asyncio.sleep(self.every_s * random.uniform(0.5, 1))  # noqa: S311 - jitter between processes
            try:
                await self.resume_all_deletions()
            except Exception:
                log.warning("a deletion failed and will be resumed", exc_info=True)

    async def run_retention(self) -> None:
        """Apply retention until cancelled, at first after _START_DELAY_S."""
        wait_s = _START_DELAY_S
        while True:
            await asyncio.sleep(wait_s * random.uniform(0.5, 1))  # noqa: S311 - jitter between processes
            wait_s = _CHECK_PERIOD_S
            try:
                await self.apply_retention()
            except Exception:
                log.warning("retention failed and will be tried again", exc_info=True)
