"""A worker of the real service that is killed around every agent's answers: nothing is paid or done twice."""

import asyncio
import json
import os
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from tests.integration.sessions.lab.service import PARTS
from tests.patience import hang_guard
from tests.scripted_chat import ScriptedChat, output_of, serving

from app.settings import Settings

from .chatting import SESSIONS, Json, begin_session, chatting
from .conftest import User
from .mortal_workers import end_dead_leases, keeping

pytestmark = pytest.mark.slow

PENGUINS = Path(str(files("bokeh_sampledata"))) / "_data" / "penguins.csv"
OUTPUTS = {"Plan", "Retrieved", "Analysis", "Prepared", "Trained", "Verdict", "Tuned", "Reported"}
AGENTS = 6
DONE = "select name, count(*) as times from calls where session_id = $1 and kind = 'tool' group by name"


@dataclass
class Killer:
    """Kills the worker while its first question of each part waits for the provider's answer."""

    pid_file: Path
    struck: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, asked: Json) -> None:
        with self.lock:
            part = output_of(asked)
            if part in self.struck:
                return
            self.struck.add(part)
        os.kill(int(self.pid_file.read_text()), signal.SIGKILL)


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[ScriptedChat]:
    with serving(ScriptedChat(hear=Killer(tmp_path / "worker" / "pid"))) as chat:
        yield chat


@pytest.fixture
def settings(settings: Settings, chat: ScriptedChat, tmp_path: Path) -> Settings:
    return chatting(settings, chat, tmp_path)


@pytest.fixture
def folder(nursery: "subprocess.Popen[str]", settings: Settings, tmp_path: Path) -> Iterator[Path]:
    with keeping(nursery, settings, tmp_path / "worker", kills="answers") as folder:
        yield folder


async def ended(app: FastAPI, ada: User, session: Any, folder: Path) -> Json:
    """The session once it rests. The lease of a worker that died ends at once, not when its time is over."""
    async with hang_guard():
        while True:
            view: Json = (await ada.http.get(f"{SESSIONS}/{session}")).json()
            if view["status"] in ("completed", "failed", "awaiting_user"):
                return view
            await end_dead_leases(app.state.resources.database, folder)
            await asyncio.sleep(0.05)


def told(log: Path) -> str:
    return log.read_text()[-3000:]


def killed(folder: Path) -> dict[str, int]:
    """How many workers died in each place around the record."""
    return {place: len([*folder.glob(f"{place}-*")]) for place in ("before", "after")}


async def test_no_answer_that_was_recorded_is_asked_for_again(
    app: FastAPI, ada: User, chat: ScriptedChat, folder: Path
) -> None:
    table, quick = PENGUINS.read_bytes(), {"deterministic": True, "time_budget_s": 15}
    session = await begin_session(ada, "penguins.csv", table, "Which species is a penguin?", **quick)
    view = await ended(app, ada, session, folder)
    assert view["status"] == "completed", view["error"]
    assert view["result"]["report"]["checked_claims"] > 0

    parts = AGENTS + sum(PARTS.values()) - len(PARTS)
    assert isinstance(chat.hear, Killer)
    assert chat.hear.struck == OUTPUTS
    assert killed(folder) == {"before": parts, "after": parts}
    # What was not recorded when its worker died is asked for again, and nothing else.
    asked = Counter(json.dumps([one["messages"], one["tools"]], sort_keys=True) for one in chat.requests)
    assert sorted(asked.values(), reverse=True)[: parts + 1] == [3] * parts + [1]
    assert view["usage"]["chat_calls"] == len(chat.requests) - 2 * parts
    rows = await app.state.resources.database.rows(
        "select name, count(*) as times from calls where session_id = $1 and kind = 'tool' group by name",
        session,
    )
    times = {row["name"]: row["times"] for row in rows}
    assert (times["lock_holdout"], times["final_evaluation"], times["generate_summary"]) == (1, 1, 1)
