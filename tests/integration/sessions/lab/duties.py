"""Resources of the lab's workers: the product's parts, cells that only wait, a database that can kill."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.integration.sessions.lab.graph import need_store, spec, wait_while
from tests.patience import HANG_GUARD_S

from app.db.pool import Database, Record
from app.deletion.background import RetentionWorker
from app.deletion.retention_periods import RetentionPeriods
from app.jobs import QUEUES, JobSender
from app.redis_client import open_redis
from app.sandbox.computation_runner import ComputationRunner
from app.sandbox.exchange.contract import CellRequest, Computation, End, Outcome, Progress, Usage
from app.sessions.checkpoints import RedisCheckpoints
from app.sessions.config import SessionsConfig
from app.sessions.drive.runner import Runner
from app.sessions.events.publisher import EventPublisher
from app.sessions.graphs import Graphs
from app.sessions.lease import Leases
from app.sessions.statements import LIFECYCLE, ROUNDS, WORKERS
from app.sessions.waiting.fits import Fits
from app.sessions.workers import WorkerHeartbeat
from app.storage.folder import FolderBlobs
from app.worker.event_loop import WorkerServices

QUICK = SessionsConfig(
    lease_s=60.0,
    renew_s=0.25,
    slice_s=1.0,
    sweep_s=0.2,
    grace_s=0.4,
    drain_s=2.0,
    time_limit_s=10 * HANG_GUARD_S,
    ending_s=HANG_GUARD_S,
    max_crashes=1000,
)
"""No lease runs out because a machine is slow: who kills a worker ends its leases (`Lab.lapse`). One that the
worker's last statement renewed after that costs a minute."""
ONE_SLICE = replace(QUICK, lease_s=HANG_GUARD_S, slice_s=HANG_GUARD_S)
"""One call of `advance` drives a session until it waits or ends, however long that takes."""


class WaitingCells:
    """A cell provider whose computations only take their time."""

    async def start(self) -> None:
        pass

    async def run(self, request: CellRequest, on_progress: Progress | None = None) -> Outcome:
        work = request.work
        assert isinstance(work, Computation)
        need_store(str(work.params["away_while"]))
        await asyncio.sleep(float(str(work.params["ms"])) / 1000)
        await wait_while(str(work.params["held_while"]))
        return Outcome(End.RETURNED, Usage(0.0, 0.0, 0), value={"score": 0.5})

    async def close(self) -> None:
        pass


@dataclass
class Scythe:
    """Kills this process once per session, before or after the session's n-th statement, whoever sends it.

    A session asks for it by its seed: `2 * n` kills before statement n, `2 * n + 1` after it; 0 never.
    """

    folder: Path
    seeds: dict[UUID, int] = field(default_factory=dict)

    def count(self, session_id: UUID) -> int:
        """Count the statements that this session has sent, over all lives of all workers."""
        with (self.folder / f"count-{session_id}").open("a") as file:
            file.write(".")
            return file.tell()

    def strike(self, session_id: UUID, place: int) -> None:
        mark = self.folder / f"struck-{session_id}"
        if self.seeds[session_id] == place and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)


class MortalDatabase(Database):
    """Counts the statements that move a session or a fit, but not what comes by the clock."""

    scythe: Scythe

    async def row(self, sql: str, *args: Any) -> Record | None:
        session_id = args[0] if args else None
        if not isinstance(session_id, UUID) or sql in (LIFECYCLE.renew, ROUNDS.renew, WORKERS.is_for_others):
            return await super().row(sql, *args)
        if session_id not in self.scythe.seeds:
            session = await super().row("select seed from sessions where id = $1", session_id)
            self.scythe.seeds[session_id] = session["seed"] if session else 0
        if not self.scythe.seeds[session_id]:
            return await super().row(sql, *args)
        number = self.scythe.count(session_id)
        self.scythe.strike(session_id, 2 * number)
        row = await super().row(sql, *args)
        self.scythe.strike(session_id, 2 * number + 1)
        return row


@asynccontextmanager
async def open_duties(
    environment: Mapping[str, str], config: SessionsConfig = QUICK, version: int = 1, also: tuple[int, ...] = ()
) -> AsyncIterator[WorkerServices]:
    """`environment`: DATABASE_URL, REDIS_URL and LAB_FOLDER."""
    folder = Path(environment["LAB_FOLDER"])
    db = await MortalDatabase.open(environment["DATABASE_URL"], patience_s=HANG_GUARD_S)
    db.scythe = Scythe(folder)
    redis = open_redis(
        environment["REDIS_URL"], socket_timeout=HANG_GUARD_S, socket_connect_timeout=HANG_GUARD_S
    )
    tail, send = EventPublisher(redis), JobSender(redis)
    tail.start()
    graphs = Graphs([spec(version, also)])
    leases = Leases(db, config, graphs.supported_versions)
    runner = Runner(db, leases, graphs, RedisCheckpoints(redis), tail, send, config)
    blobs = FolderBlobs(folder / "blobs")
    computer = ComputationRunner(WaitingCells(), blobs, folder)
    try:
        heartbeat = WorkerHeartbeat(db, graphs.supported_versions, tuple(QUEUES.values()))
        retention_worker = RetentionWorker(
            db, redis, tail, send, blobs, RetentionPeriods(), folder, every_s=0.2
        )
        yield WorkerServices(
            runner, Fits(db, computer, tail, send, config), db, redis, send, config, retention_worker, heartbeat
        )
    finally:
        await tail.close()
        await send.close()
        await redis.aclose()
        await db.close()
