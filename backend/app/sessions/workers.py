"""Live workers: their heartbeats in Postgres, the graph versions that they run, and the fits that they compute.

Heartbeats are rows and not keys in Redis, so that they are known while Redis is away. While two versions of the
service are on one database, a session goes on with a worker that runs its version of the graph. A session for
which there is none for a long time ends with an error that says so.
"""

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID, uuid4

from app.db.pool import Database
from app.jobs import QUEUES, JobName
from app.sessions.events.serialization import dumps
from app.sessions.statements import WORKERS

log = logging.getLogger(__name__)

HEARTBEAT_S = 5.0
"""Interval of heartbeats: one small write per worker process."""

MAX_SILENCE_S = 30.0
"""A worker counts as dead after six missed heartbeats: a busy host delays some of them."""

DRIVE_QUEUE = QUEUES[JobName.ADVANCE]
"""The queue of the workers that drive sessions."""

Versions = Mapping[str, Sequence[int]]
"""Graph -> its version, then the earlier versions whose sessions it continues."""


class StrandedRow(NamedTuple):
    """`version`: of the graph, `any` for a session that was never claimed. `n`: its sessions."""

    graph: str
    version: str
    n: int


class QueueRow(NamedTuple):
    """`workers`: live workers of the queue."""

    queue: str
    workers: int


class SlotsRow(NamedTuple):
    """`slots`: fits that all live workers compute at the same time."""

    slots: int


@dataclass(frozen=True)
class WorkerHeartbeat:
    """The row of one worker process. `fit_slots`: fits that it computes at the same time."""

    db: Database
    graphs: Versions
    queues: Sequence[str]
    fit_slots: int = 0
    id: UUID = field(default_factory=uuid4)

    async def beat_for_ever(self) -> None:
        """Renew the row until cancelled, then delete it."""
        graphs = dumps({name: list(versions) for name, versions in self.graphs.items()})
        try:
            while True:
                try:
                    await self.db.row(WORKERS.heartbeat, self.id, graphs, list(self.queues), self.fit_slots)
                # The leases of this worker hold without it, and the next beat mends the row.
                except Exception:
                    log.warning("the heartbeat of this worker failed", exc_info=True)
                await asyncio.sleep(HEARTBEAT_S)
        finally:
            # Without the row's deletion others only learn after MAX_SILENCE_S that this worker has ended.
            with contextlib.suppress(Exception):
                async with asyncio.timeout(1):
                    await self.db.row(WORKERS.leave, self.id)


async def is_for_others(db: Database, session_id: UUID, graphs: str) -> bool:
    """Return whether a session waits for a live worker other than one that runs `graphs` (JSON of Versions)."""
    row = await db.row(WORKERS.is_for_others, session_id, graphs, MAX_SILENCE_S, DRIVE_QUEUE)
    return row is not None


async def mark_stranded(db: Database, grace_s: float) -> None:
    """Mark sessions with work that no live worker can drive, and take the mark from the others."""
    await db.rows(WORKERS.mark_stranded, grace_s, MAX_SILENCE_S, DRIVE_QUEUE)


async def count_stranded(db: Database) -> dict[str, int]:
    """Sessions that wait for a worker of their graph and version: `{"pipeline 7": 3}`."""
    rows = [StrandedRow(**row) for row in await db.rows(WORKERS.count_stranded)]
    return {f"{row.graph} {row.version}": row.n for row in rows}


async def count_live_workers(db: Database) -> dict[str, int]:
    """Live workers of every queue, 0 where there is none."""
    rows = [QueueRow(**row) for row in await db.rows(WORKERS.live_by_queue, MAX_SILENCE_S)]
    return dict.fromkeys(QUEUES.values(), 0) | {row.queue: row.workers for row in rows}


async def count_fit_slots(db: Database, fallback: int) -> int:
    """Fits that all live workers compute at the same time; `fallback` while no worker is known."""
    row = await db.row(WORKERS.count_fit_slots, MAX_SILENCE_S)
    return (SlotsRow(**row).slots if row else 0) or fallback


def missing_workers(live: Mapping[str, int]) -> str | None:
    """The queues without a worker and what to do, or None. `live`: workers by queue."""
    queues = [queue for queue, count in live.items() if not count]
    if not queues:
        return None
    return (
        f"No worker on {' and '.join(queues)} was seen for {MAX_SILENCE_S:.0f} s: sessions wait. "
        f"Start: labcrew worker --queues {','.join(queues)}"
    )


def missing_versions(sessions: Mapping[str, int]) -> str | None:
    """The graph versions that no worker runs and what to do, or None. `sessions`: stranded ones, by version."""
    if not sessions:
        return None
    counts = ", ".join(f"{count} of {version}" for version, count in sessions.items())
    return (
        f"Sessions wait for a worker of the version that began them: {counts}. "
        "Start one of that version; else they end after 10 minutes, and must be started again."
    )
