"""One run: start everything, let clients live while faults come, wait for the end, and judge."""

import asyncio
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import httpx
from tests.chaos.checks.leftovers import judge_blobs, judge_files, judge_logs, judge_processes
from tests.chaos.checks.replay import judge_replay
from tests.chaos.checks.rows import Verdict, judge_rows
from tests.chaos.checks.sessions import judge_endings, judge_events, judge_work
from tests.chaos.client import Api, Client
from tests.chaos.injection import Injector
from tests.chaos.plan import NOTHING, OWNERS, Fault, Plan
from tests.chaos.processes import COUNT, TASKS, WORK_LOG, all_graphs, waiting_tasks
from tests.chaos.recovery import Observer, Recovery, recoveries
from tests.chaos.service_processes import ServiceProcesses
from tests.chaos.small_disk import mount_small_disk
from tests.chaos.work_log import WorkLog, WorkLogReader
from tests.e2e.test_service import table

from app.db.pool import Database
from app.deletion.stale_files import remove_stale_files
from app.resources import open_resources
from app.settings import Settings

_CONTROL_EVERY = 10
"""Faults between two controls, in which nothing is injected."""
_ATTEMPTS = 5
"""Times that a fault is tried while there is nothing to do it to."""


@dataclass(frozen=True)
class Report:
    recoveries: list[Recovery]
    verdicts: list[Verdict]
    facts: dict[str, object]

    @property
    def holds(self) -> bool:
        return not any(verdict.broken for verdict in self.verdicts)


@dataclass
class Suite:
    """`folder`: empty, ours, with a short path. `patience_s`: for all to end after the last fault."""

    plan: Plan
    folder: Path
    patience_s: float
    say: Callable[[str], object]
    mounts_refused: str = ""
    processes: ServiceProcesses = field(init=False)
    facts: dict[str, object] = field(default_factory=dict)
    answers: "Counter[str]" = field(default_factory=Counter)
    refusals: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    _count: int = 0
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def run(self) -> Report:
        self._prepare()
        self.processes = ServiceProcesses(self.folder)
        try:
            await self.processes.start()
            db = await Database.open(self.processes.database_url, size=3, patience_s=20.0)
            try:
                return await self._live(db)
            finally:
                await db.close()
        finally:
            await self.processes.end()

    def _prepare(self) -> None:
        (self.folder / "blobs").mkdir()
        self.mounts_refused = self.mounts_refused or mount_small_disk(self.folder / "blobs")
        if self.mounts_refused:
            self.say(f"No file system of our own ({self.mounts_refused}): files are limited instead.")
        self._tell_count()

    async def _live(self, db: Database) -> Report:
        began = time.monotonic()
        observer = Observer(db, WorkLogReader(self.folder / WORK_LOG))
        clients = await self._clients()
        self.facts["started after s"] = round(time.monotonic() - began, 1)
        visits = [asyncio.create_task(client.live()) for client in clients]
        try:
            began = time.monotonic()
            await self._strike(observer)
            self.facts["faults came within s"] = round(time.monotonic() - began, 1)
            ended = time.monotonic()
            _, late = await asyncio.wait(visits, timeout=self.patience_s)
            self.facts["all ended after another s"] = round(time.monotonic() - ended, 1)
            for visit in visits:
                if visit.done() and not visit.cancelled() and (error := visit.exception()):
                    raise error
            if late:
                await self._tell_what_waits(clients[0].api)
        finally:
            for visit in visits:
                visit.cancel()
        unfinished = [client.session for client, visit in zip(clients, visits, strict=True) if visit in late]
        return await self._judge(db, observer, clients, unfinished)

    async def _tell_what_waits(self, api: Api) -> None:
        """Into a file of the folder, which is kept."""
        api_tasks = (await api.call("GET", TASKS, (200,))).json()
        lines = ["clients:", *waiting_tasks(), "API:", *api_tasks]
        (self.folder / "waiting").write_text("\n".join(lines))

    async def _clients(self) -> list[Client]:
        """Users, their tokens and a table each, before anything breaks."""
        limits = httpx.Limits(max_connections=None)
        http = httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.processes.api_port}", timeout=15, limits=limits, trust_env=False
        )
        owners = [await self._sign_up(http, n) for n in range(OWNERS)]
        tables = [await self._upload(api) for api in owners]
        return [
            Client(visit, owners[visit.owner], [tables[visit.owner]], self.wait_for_faults)
            for visit in self.plan.visits
        ]

    async def _sign_up(self, http: httpx.AsyncClient, n: int) -> Api:
        login = {"email": f"chaos{n}@example.com", "password": "correct horse battery"}
        api = Api(http, "", self.answers, self.refusals)
        await api.call("POST", "/api/v1/auth/register", (201, 409), json=login)
        api.token = (await api.call("POST", "/api/v1/auth/token", (200,), json=login)).json()["access_token"]
        return api

    async def _upload(self, api: Api) -> str:
        file = {"file": ("customers.csv", table(150))}
        return str((await api.call("POST", "/api/v1/datasets", (201,), files=file)).json()["id"])

    async def wait_for_faults(self, n: int) -> None:
        async with self._news:
            await self._news.wait_for(lambda: self._count >= n)

    async def _strike(self, observer: Observer) -> None:
        injector = Injector(self.processes, not self.mounts_refused)
        chance = Random(len(self.plan.faults))
        to_come = deque((fault, 1) for fault in self.plan.faults)
        try:
            while to_come:
                fault, attempt = to_come.popleft()
                before = chance.uniform(0.2, 0.8) * fault.gap_s
                await asyncio.sleep(before)
                if self._count % _CONTROL_EVERY == 0:
                    observer.struck.append(await observer.look(NOTHING, None))
                await asyncio.sleep(fault.gap_s - before)
                if await self._inject(injector, observer, fault):
                    await self._count_one()
                elif attempt < _ATTEMPTS:
                    to_come.append((fault, attempt + 1))
                else:
                    self.missed.append(f"{fault.n} {fault.kind} {fault.victim}")
                    await self._count_one()
            await injector.finished()
        finally:
            injector.undo_all()

    async def _inject(self, injector: Injector, observer: Observer, fault: Fault) -> bool:
        """Inject a fault; return false if there was nothing to do it to, so that it is tried again later."""
        struck = await observer.look(fault.kind, fault)
        if done := await injector.inject(fault):
            observer.struck.append(struck)
        return done

    async def _count_one(self) -> None:
        async with self._news:
            self._count += 1
            self._tell_count()
            self._news.notify_all()
        if self._count % 25 == 0:
            self.say(f"{self._count} of {len(self.plan.faults)} faults")

    def _tell_count(self) -> None:
        draft = self.folder / f"{COUNT}.draft"
        draft.write_text(str(self._count))
        draft.replace(self.folder / COUNT)

    async def _judge(
        self, db: Database, observer: Observer, clients: list[Client], unfinished: list[str]
    ) -> Report:
        observer.work_log.read()
        violations = [
            Verdict("every fault of the plan was done", self.missed),
            Verdict("every client saw the end of its session", unfinished),
            *await judge_endings(db, clients),
            *await judge_rows(db),
            *await judge_events(db, clients),
        ]
        work, again = await judge_work(db, observer.work_log.entries)
        blobs, digest_count = await judge_blobs(db, self.folder / "blobs")
        replayed = await self._replay(db)
        violations += [*work, *blobs, replayed]
        await self._count_all(db, clients, again, digest_count)
        late = await self._stop(db)
        swept = await remove_stale_files(self.folder / "home", self.folder / "blobs", 0.0)
        self.facts["files of killed processes swept"] = swept
        violations += [*judge_processes(self.folder, late), *judge_files(self.folder), *judge_logs(self.folder)]
        violations.append(Verdict("the API refuses nothing that it should take", self.refusals))
        return Report(recoveries(observer.struck, clients), violations, self.facts)

    async def _stop(self, db: Database) -> list[str]:
        await db.close()
        return await self.processes.stop()

    async def _replay(self, db: Database) -> Verdict:
        settings = Settings(
            _env_file=None,
            labcrew_home=self.folder / "home",
            artifact_storage_path=self.folder / "blobs",
            database_url=self.processes.database_url,
            redis_url=self.processes.redis_url,
            cells_socket=self.folder / "s" / "cells",
        )
        async with open_resources(settings, "worker") as resources:
            graphs = all_graphs(resources, WorkLog(self.folder / "replayed", "replay"), self.folder / COUNT)
            replayed = await judge_replay(db, graphs)
        self.facts["steps replayed"] = replayed.steps
        return replayed.verdict

    async def _count_all(self, db: Database, clients: list[Client], again: int, digest_count: int) -> None:
        row = await db.row(
            "select (select count(*) from sessions) as sessions, (select count(*) from steps) as steps, "
            "(select count(*) from calls) as calls, (select count(*) from events) as events, "
            "(select count(*) from questions) as questions, (select count(*) from fits) as fits, "
            "(select sum(runs) - count(*) from fits where runs > 0) as refits, "
            "(select sum(fence) from sessions) as claims, (select max(crashes) from sessions) as crashes"
        )
        statuses = await db.rows(
            "select graph, status, count(*) as n from sessions group by 1, 2 order by 1, 2"
        )
        for status in statuses:
            self.facts[f"{status['graph']} sessions {status['status']}"] = status["n"]
        self.facts |= dict(row or {})
        self.facts["calls done again before recorded"] = again
        self.facts["blobs named"] = digest_count
        self.facts["connections of clients"] = sum(client.connections for client in clients)
        self.facts["restarts"] = {name: part.deaths for name, part in self.processes.parts.items()}
        self.facts["answers other than asked for"] = dict(self.answers.most_common())


def fresh_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="lc-chaos-"))
