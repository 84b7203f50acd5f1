"""What a worker process does beside its work: finishes deletions, and lets go what was kept long enough."""

import asyncio
import logging
import random
from dataclasses import dataclass
from pathlib import Path

from redis.asyncio import Redis

from app.db.pool import Database
from app.jobs import SendJob
from app.observability.metrics.retention import RETIRED
from app.retention.accounts import AccountDeletions
from app.retention.chores import take
from app.retention.config import DAY_S, Retention
from app.retention.deletions import Deletions
from app.retention.expiry import Retiring
from app.retention.stale_files import drop_stale_copies, remove_leftovers
from app.sessions.events.publisher import EventPublisher
from app.storage.blobs import BlobStore

log = logging.getLogger(__name__)

HOUR_S = 3_600.0
_LOOK_S = 60.0
_LEASE_S = 10.0
_AGAIN_S = 1.0

_CLAIM = """
update deletions set lease_until = now() + $1 * interval '1 second'
where id = (
  select id from deletions where done_at is null and (lease_until is null or lease_until < now())
  order by asked_at limit 1 for update skip locked)
returning id, kind, target_id
"""
_LATER = """
update deletions set lease_until = now() + $2 * interval '1 second' where id = $1 and done_at is null
returning id
"""


@dataclass(frozen=True)
class Tidying:
    """`home`: this host's data folder; `store`: the folder of blobs, where they are in one.

    `every_s`: how often deletions are looked for.
    """

    db: Database
    redis: Redis
    tail: EventPublisher
    send: SendJob
    blobs: BlobStore
    keep: Retention
    home: Path
    store: Path | None = None
    every_s: float = 2.0

    @property
    def deletions(self) -> Deletions:
        return Deletions(self.db, self.redis, self.tail, self.send)

    @property
    def accounts(self) -> AccountDeletions:
        return AccountDeletions(self.db, self.redis, self.deletions)

    async def carry_on(self) -> bool:
        """Carry one deletion on that nobody else does; False when there is none."""
        row = await self.db.row(_CLAIM, _LEASE_S)
        if row is None:
            return False
        if row["kind"] == "user":
            done = await self.accounts.carry_on(row["id"], row["target_id"])
        else:
            done = not await self.deletions.finish([row["target_id"]])
        if not done:
            await self.db.row(_LATER, row["id"], _AGAIN_S)
        return True

    async def carry_on_all(self) -> None:
        """Until there is none that could go on now."""
        more = True
        while more:
            more = await self.carry_on()

    async def tidy(self) -> None:
        """The fleet's share, if nobody did it in the last hour, and this host's."""
        if await take(self.db, "retention", HOUR_S):
            async for kind, gone in Retiring(self.db, self.blobs, self.keep).run():
                RETIRED.labels(kind).inc(gone)
        RETIRED.labels("files").inc(await remove_leftovers(self.home, self.store, self.keep.files_days * DAY_S))
        RETIRED.labels("copies").inc(await drop_stale_copies(self.home, self.blobs))

    async def delete_for_ever(self) -> None:
        """Until cancelled; what fails is followed by the next."""
        while True:
            await asyncio.sleep(self.every_s * random.uniform(0.5, 1))  # noqa: S311 - spreads the processes
            try:
                await self.carry_on_all()
            except Exception:
                log.warning("a deletion could not go on", exc_info=True)

    async def tidy_for_ever(self) -> None:
        """Until cancelled. It begins after a minute: who starts has better things to do."""
        wait_s = _LOOK_S
        while True:
            await asyncio.sleep(wait_s * random.uniform(0.5, 1))  # noqa: S311 - spreads the processes
            wait_s = HOUR_S / 4
            try:
                await self.tidy()
            except Exception:
                log.warning("what was kept long enough could not go", exc_info=True)
