"""Real servers, real worker processes, and rows to look at afterwards."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from redis.asyncio import Redis
from tests.integration.sessions.lab.duties import ONE_SLICE, open_duties
from tests.patience import HANG_GUARD_S, until

from app import jobs
from app.db.pool import Database, Record
from app.jobs import Job, encode_message
from app.redis_client import open_redis
from app.sessions.config import SessionsConfig
from app.sessions.events.publisher import EventPublisher
from app.sessions.service import SessionService
from app.worker.event_loop import WorkerServices

ROOT = Path(__file__).parents[3]


@dataclass
class Worker:
    """A worker process and its keeper, which starts it again after a SIGKILL."""

    keeper: int
    pid_file: Path

    @property
    def pid(self) -> int:
        return int(self.pid_file.read_text())

    def kill(self) -> None:
        with suppress(ProcessLookupError, FileNotFoundError, ValueError):
            os.kill(self.pid, signal.SIGKILL)

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    async def end(self) -> None:
        """Ask it to stop, and wait until it has."""
        os.kill(self.keeper, signal.SIGTERM)
        await until(lambda: not self.is_alive)

    @property
    def is_alive(self) -> bool:
        with suppress(ProcessLookupError):
            os.kill(self.keeper, 0)
            return True
        return False


@dataclass
class Nursery:
    process: "subprocess.Popen[str]"

    def fork(self, environment: dict[str, str]) -> int:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(environment) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@dataclass
class Lab:
    nursery: Nursery
    database_url: str
    redis_url: str
    folder: Path
    db: Database
    redis: "Redis"
    service: SessionService
    owner: UUID
    workers: list[Worker] = field(default_factory=list)
    duplicates: int = 1

    def start_worker(self, **environment: str) -> Worker:
        name = f"worker-{len(self.workers)}"
        overrides = {
            "DATABASE_URL": self.database_url,
            "REDIS_URL": self.redis_url,
            "LAB_FOLDER": str(self.folder),
            "LAB_PID": str(self.folder / f"{name}.pid"),
            "LAB_LOG": str(self.folder / f"{name}.log"),
            **environment,
        }
        worker = Worker(self.nursery.fork(overrides), self.folder / f"{name}.pid")
        self.workers.append(worker)
        return worker

    async def create(self, seed: int = 0, send: bool = True, **preferences: Any) -> UUID:
        session_id = uuid4()
        await self.db.row(
            "insert into sessions (id, owner_id, graph, goal, preferences, dataset_ids, seed) "
            "values ($1, $2, 'lab', 'a goal', $3, '{}', $4)",
            session_id,
            self.owner,
            json.dumps(preferences),
            seed,
        )
        if send:
            self.send(jobs.advance_job(session_id))
        return session_id

    def send(self, job: Job) -> None:
        self.service.send_job(job)

    async def session(self, session_id: UUID) -> Record:
        row = await self.db.row("select * from sessions where id = $1", session_id)
        assert row
        return row

    async def until(self, session_id: UUID, is_so: Callable[[Record], bool]) -> Record:
        """The session's row once it is so."""
        deadline = time.monotonic() + HANG_GUARD_S  # clock: a hang guard that shows the logs
        while not is_so(row := await self.session(session_id)):
            if time.monotonic() > deadline:  # clock: a hang guard that shows the logs
                pytest.fail(f"never came to it: {dict(row)}\n{self.logs()}")
            await asyncio.sleep(0.01)
        return row

    async def ended(self, session_id: UUID) -> Record:
        return await self.until(session_id, lambda row: row["ended_at"] is not None)

    async def lapse(self) -> None:
        """End all leases now, as the clock would where the processes that held them are dead.

        No lease of the lab runs out by itself within a test: on a slow machine a living holder may be late.
        """
        await self.db.rows("update sessions set lease_until = now() where lease_until > now()")
        await self.db.rows("update fits set lease_until = now() where status = 'running'")
        await self.db.rows("update deletions set lease_until = null")

    def hold(self) -> Path:
        """Make a file for the preferences `held_while` and `fits_held_while`."""
        path = self.folder / f"hold-{uuid4()}"
        path.touch()
        return path

    async def until_held(self, session_id: UUID) -> None:
        """Wait until its node `retrieval` waits, or will wait, for the file of `held_while`."""
        await self.until(session_id, lambda row: row["last_seq"] >= 2)

    async def answer(self, session_id: UUID, answer: str = "b") -> None:
        """Answer its next question as soon as it is asked, whatever the session's status is then."""
        unanswered = "select 1 from questions where session_id = $1 and answered_at is null"
        await self.wait_for_row(unanswered, session_id)
        await self.service.respond(self.owner, session_id, None, answer)

    async def wait_for_row(self, sql: str, *args: Any) -> Record:
        """The first row of a query, once there is one."""
        deadline = time.monotonic() + HANG_GUARD_S  # clock: a hang guard that shows the logs
        while (row := await self.db.row(sql, *args)) is None:
            if time.monotonic() > deadline:  # clock: a hang guard that shows the logs
                pytest.fail(f"never found: {sql}\n{self.logs()}")
            await asyncio.sleep(0.005)
        return row

    def logs(self) -> str:
        return "\n".join(path.read_text()[-3000:] for path in sorted(self.folder.glob("worker-*.log")))


@dataclass
class ManyTimes:
    """Queues every job as often as the lab says."""

    redis: "Redis"
    lab: Lab | None = None
    pending: set["asyncio.Task[Any]"] = field(default_factory=set)

    def __call__(self, job: Job) -> None:
        async def push() -> None:
            for _ in range(self.lab.duplicates if self.lab else 1):
                with suppress(OSError):
                    await self.redis.lpush(jobs.QUEUES[job.name], encode_message(job))

        task = asyncio.get_running_loop().create_task(push())
        self.pending.add(task)
        task.add_done_callback(self.pending.discard)


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.integration.sessions.lab.nursery"],
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        try:
            yield Nursery(process)
        finally:
            process.kill()


@pytest.fixture
async def lab(nursery: Nursery, database_url: str, redis_url: str, tmp_path: Path) -> AsyncIterator[Lab]:
    db = await Database.open(database_url, size=4, patience_s=HANG_GUARD_S)
    redis = open_redis(redis_url)
    tail, send = EventPublisher(redis), ManyTimes(redis)
    tail.start()
    owner = uuid4()
    await db.row(
        "insert into users (id, email, password_hash, role) values ($1, 'lab@example.com', 'x', 'user')", owner
    )
    service = SessionService(db, tail, send, SessionsConfig(), graph="lab")
    lab = Lab(nursery, database_url, redis_url, tmp_path, db, redis, service, owner)
    send.lab = lab
    try:
        yield lab
    finally:
        for worker in lab.workers:
            with suppress(ProcessLookupError):
                os.killpg(worker.keeper, signal.SIGKILL)
        await asyncio.gather(*send.pending)
        await tail.close()
        await redis.aclose()
        await db.close()


@pytest.fixture
async def duties(lab: Lab) -> AsyncIterator[WorkerServices]:
    """A worker's parts in this process, for what must happen in a certain order."""
    environment = {
        "DATABASE_URL": lab.database_url,
        "REDIS_URL": lab.redis_url,
        "LAB_FOLDER": str(lab.folder),
    }
    async with open_duties(environment, ONE_SLICE) as duties:
        yield duties
