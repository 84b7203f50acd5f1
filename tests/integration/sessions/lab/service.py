"""A worker of the real service, and a database that kills it around a chat model's answer."""

import json
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.integration.sessions.lab.duties import QUICK
from tests.patience import HANG_GUARD_S

from app.db.pool import Database, Record
from app.resources import open_resources
from app.sessions.config import SessionsConfig
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


@asynccontextmanager
async def open_service(environment: Mapping[str, str]) -> AsyncIterator[WorkerServices]:
    """`environment`: LAB_SETTINGS, a JSON object of settings, and LAB_FOLDER."""
    settings = QuickSettings(_env_file=None, **json.loads(environment["LAB_SETTINGS"]))
    async with open_resources(settings, "worker") as resources:
        database = await AnswerDatabase.open(settings.database_url or "", patience_s=HANG_GUARD_S)
        database.scythe = AnswerScythe(Path(environment["LAB_FOLDER"]))
        mortal = replace(resources, database=database)
        try:
            yield WorkerServices.assemble(mortal, pipeline_graphs(mortal))
        finally:
            await database.close()
