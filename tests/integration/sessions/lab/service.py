"""A worker of the real service, and databases that kill it: around a chat model's answer, or at a statement."""

import json
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.integration.sessions.lab.duties import QUICK
from tests.patience import HANG_GUARD_S

from app.db.pool import Database, Record
from app.resources import open_resources
from app.sessions.config import SessionsConfig
from app.sessions.statements import LIFECYCLE, ROUNDS, WORKERS
from app.settings import Settings
from app.worker.event_loop import WorkerServices
from app.worker.graphs import pipeline_graphs

PARTS = {"data_analyst": 2, "model_evaluator": 2}
"""Agents that think in more than one step: in so many of them their worker dies; else in the first."""

_KEY, _ABOUT = 7, 10
"""Places of a call's key and of what it is about in the statement that records it."""


class QuickSettings(Settings):
    @property
    def sessions(self) -> SessionsConfig:
        return QUICK


@dataclass
class AnswerScythe:
    """Kills this process before and after it records the first answer that an agent was given in a step."""

    folder: Path

    def strike(self, place: str, agent: str, seq: int) -> None:
        mark = self.folder / f"{place}-{agent}-{seq}"
        if mark.exists() or len([*self.folder.glob(f"{place}-{agent}-*")]) >= PARTS.get(agent, 1):
            return
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)


class AnswerDatabase(Database):
    scythe: AnswerScythe

    async def row(self, sql: str, *args: Any) -> Record | None:
        if len(args) <= _ABOUT or args[_KEY] != "chat:0":
            return await super().row(sql, *args)
        agent = json.loads(args[_ABOUT])["agent"]
        self.scythe.strike("before", agent, args[2])
        row = await super().row(sql, *args)
        self.scythe.strike("after", agent, args[2])
        return row


PLACE = "place"
"""File with the place of a kill: `2 * n` is before a session's n-th statement, `2 * n + 1` after it."""


NO_STEPS = (LIFECYCLE.renew, ROUNDS.renew, WORKERS.is_for_others, WORKERS.heartbeat, WORKERS.leave)
"""Statements that come by the clock, or are about a worker: each life of a worker has an id of its own, so a
kill at its heartbeat would be one at every start."""


class StatementDatabase(Database):
    """Kills this process once per session, at the place that the file PLACE names; never without that file."""

    folder: Path

    async def row(self, sql: str, *args: Any) -> Record | None:
        session_id = args[0] if args else None
        if not isinstance(session_id, UUID) or sql in NO_STEPS or not (self.folder / PLACE).exists():
            return await super().row(sql, *args)
        with (self.folder / f"count-{session_id}").open("a") as file:
            file.write(".")
            number = file.tell()
        self._strike(session_id, 2 * number)
        row = await super().row(sql, *args)
        self._strike(session_id, 2 * number + 1)
        return row

    def _strike(self, session_id: UUID, place: int) -> None:
        mark = self.folder / f"struck-{session_id}"
        if (self.folder / PLACE).read_text() == str(place) and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)


@asynccontextmanager
async def open_service(environment: Mapping[str, str]) -> AsyncIterator[WorkerServices]:
    """`environment`: LAB_SETTINGS, a JSON object of settings, and LAB_FOLDER; LAB_KILLS `statements` has the
    worker killed at a statement instead of around answers."""
    settings = QuickSettings(_env_file=None, **json.loads(environment["LAB_SETTINGS"]))
    async with open_resources(settings, "worker") as resources:
        database = await _open_database(settings, environment)
        mortal = replace(resources, database=database)
        try:
            yield WorkerServices.assemble(mortal, pipeline_graphs(mortal))
        finally:
            await database.close()


async def _open_database(settings: Settings, environment: Mapping[str, str]) -> Database:
    folder = Path(environment["LAB_FOLDER"])
    if environment.get("LAB_KILLS") == "statements":
        mortal = await StatementDatabase.open(settings.database_url or "", patience_s=HANG_GUARD_S)
        mortal.folder = folder
        return mortal
    database = await AnswerDatabase.open(settings.database_url or "", patience_s=HANG_GUARD_S)
    database.scythe = AnswerScythe(folder)
    return database
