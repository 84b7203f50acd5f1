"""A fork without a change ends as its source, for sessions of every kind, at any point, whatever is killed.

Each kind is one recorded session. The point, the statement at which the worker is killed and the side that goes
are drawn by the seed `LABCREW_FORK_SEED`: 1 in `make test`, which says the same of the same code each time, and
another one in each `make fuzz`. `LABCREW_FORK_POINTS` has more of them drawn in one run.
"""

import asyncio
import json
import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from fastapi import FastAPI
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call
from tests.fast_families import FAST_FAMILIES
from tests.integration.sessions.lab.service import PLACE
from tests.patience import hang_guard
from tests.scripted_chat import ScriptedChat, by_policy, output_of, serving

from app.cli.administration.backup_folder import back_up, bring_back
from app.main import create_app
from app.settings import Settings

from .chatting import SESSIONS, Json, chatting
from .conftest import User, client_of
from .mortal_workers import end_dead_leases, keeping
from .test_forks import fork, outcome, steps

pytestmark = pytest.mark.slow

MAX_PLACE = 40
"""A worker is killed around one of the first twenty statements of a fork: some have fewer, and end unharmed."""
ENDED = ("completed", "failed", "cancelled")


@dataclass(frozen=True)
class Kind:
    """A kind of session: its goal, tables and preferences, the answers to its questions by the start of their
    key, and the calls of a chat model, if it has one."""

    goal: str
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    preferences: Json = field(default_factory=dict)
    answers: Json = field(default_factory=dict)
    bars: pd.DataFrame | None = None
    has_chat_model: bool = False
    is_restored: bool = False


def rows(count: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    size, colour = rng.normal(size=count).round(3), rng.choice(["red", "green"], count)
    price = (3 * size + (colour == "red") + rng.normal(0, 0.2, count)).round(3)
    return pd.DataFrame({"size": size, "colour": colour, "price": price, "sort": np.where(price > 0, "a", "b")})


def series(days: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rhythm = 10 * np.sin(2 * np.pi * np.arange(days) / 7)
    day = pd.date_range("2025-01-01", periods=days)
    return pd.DataFrame({"day": day, "takings": (80 + rhythm + rng.normal(size=days)).round(2)})


def bars(count: int = 700) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    close = 60_000 * np.exp(np.cumsum(rng.normal(0, 1e-3, count)))
    opened = np.concatenate([[60_000], close[:-1]])
    return pd.DataFrame(
        {
            "symbol": "BTC",
            "time": pd.date_range("2026-01-01", periods=count, freq="5min"),
            "open": opened,
            "high": np.maximum(opened, close) * 1.001,
            "low": np.minimum(opened, close) * 0.999,
            "close": close,
            "volume": rng.lognormal(3, 0.6, count),
        }
    )


KINDS = {
    "questions, an approval and fits": Kind(
        "Analyse this",
        {"goods": rows()},
        {**FAST_FAMILIES, "review_plan": True},
        {"1.review": "go on", "1.": "price"},
    ),
    "written features": Kind(
        "Predict the price", {"goods": rows()}, {**FAST_FAMILIES, "clarify": "never"}, has_chat_model=True
    ),
    "prices": Kind("Predict whether BTC rises in the next hour", preferences=FAST_FAMILIES, bars=bars()),
    "a forecast": Kind("Predict the takings 4 days ahead", {"shop": series()}, FAST_FAMILIES),
    "an answer without a model": Kind(
        "What is the average price per colour?", {"goods": rows()}, is_restored=True
    ),
}
SOURCE = "def transform(frame, state):\n    return frame[[]].assign(square=frame['size'] ** 2)\n"
WRITING = [
    ("write_features", {"columns": ["size"], "source": SOURCE, "name": "squares"}),
    ("Prepared", {"frame": "squares"}),
]


def writer(asked: Json, place: int) -> AIMessage:
    """The analyst writes a feature; the others follow their policies."""
    if output_of(asked) != "Prepared":
        return by_policy(asked, place)
    name, arguments = WRITING[sum(message["role"] == "assistant" for message in asked["messages"])]
    return AIMessage("", tool_calls=[tool_call(name=name, args=arguments, id=None)])


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


@pytest.fixture
def settings(settings: Settings, kind: Kind, tmp_path: Path) -> Iterator[Settings]:
    if not kind.has_chat_model:
        yield settings
        return
    with serving(ScriptedChat(writer)) as chat:
        yield chatting(settings, chat, tmp_path)


@dataclass
class Worker:
    """A worker of the service that is started again whenever it is killed, and the app beside it."""

    app: FastAPI
    folder: Path

    async def until_the_end(self, user: User, session: UUID | str, answers: Json) -> Json:
        """Wait until it ends, and answer what it asks. Leases of a killed worker end at once."""
        answered = set[str]()
        async with hang_guard():
            while True:
                await asyncio.sleep(0.2)
                answer = await user.http.get(f"{SESSIONS}/{session}")
                if answer.status_code in (429, 503):  # a slow machine, on which requests come in bursts
                    continue
                assert answer.status_code == 200, answer.text
                view: Json = answer.json()
                if view["status"] in ENDED:
                    assert view["status"] == "completed", view["error"]
                    return view
                question = view["question"] or {"key": ""}
                if view["status"] == "awaiting_user" and question["key"] not in answered:
                    answered.add(question["key"])
                    sent = {"question": question["key"], "answer": find_answer(question, answers)}
                    reply = await user.http.post(f"{SESSIONS}/{session}/respond", json=sent)
                    assert reply.status_code == 202, reply.text
                await end_dead_leases(self.app.state.resources.database, self.folder)


def find_answer(question: Json, answers: Json) -> Any:
    matches = (answer for start, answer in answers.items() if question["key"].startswith(start))
    return next(matches, question["default"])


@pytest.fixture
def restored(settings: Settings, empty_database_url: str) -> Settings:
    """The settings of a service on another database, which is empty at first."""
    return settings.model_copy(update={"database_url": empty_database_url})


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    seed = int(os.environ.get("LABCREW_FORK_SEED") or 1)
    request.node.add_report_section("setup", "seed", f"LABCREW_FORK_SEED={seed}")
    return random.Random(seed)


async def begin(user: User, kind: Kind) -> str:
    ids = []
    for name, table in kind.tables.items():
        file = (f"{name}.csv", table.to_csv(index=False).encode())
        ids.append((await user.http.post("/datasets", files={"file": file})).json()["id"])
    if kind.bars is not None:
        files = {"file": ("bars.csv", kind.bars.to_csv(index=False).encode())}
        imported = await user.http.post("/prices/import", files=files)
        assert imported.status_code == 200, imported.text
    preferences = {"time_budget_s": 3, "deterministic": True, "seed": 1, **kind.preferences}
    wish = {"goal": kind.goal, "dataset_ids": ids, "preferences": preferences}
    created = await user.http.post(SESSIONS, json=wish)
    assert created.status_code == 201, created.text
    return str(created.json()["id"])


async def list_points(app: FastAPI, ada: User, session: str) -> list[tuple[Json, Json]]:
    """Return every point at which a session can be forked, with the change that changes nothing."""
    points: list[tuple[Json, Json]] = [({"step": step["step"]}, {}) for step in await steps(ada, session)]
    questions = await app.state.resources.database.rows(
        "select key, answer from questions where session_id = $1 and kind <> 'budget'", UUID(session)
    )
    return points + [({"question": row["key"]}, {"answer": json.loads(row["answer"])}) for row in questions]


async def test_a_fork_without_a_change_ends_as_its_source(
    app: FastAPI,
    ada: User,
    kind: Kind,
    nursery: "subprocess.Popen[str]",
    folder: Path,
    restored: Settings,
    chance: random.Random,
) -> None:
    worker = Worker(app, folder)
    session = await begin(ada, kind)
    source = await worker.until_the_end(ada, session, kind.answers)
    points = await list_points(app, ada, session)
    if kind.answers:
        assert len([at for at, _ in points if "question" in at]) >= 2
    count = int(os.environ.get("LABCREW_FORK_POINTS") or 1)
    for at, change in chance.sample(points, min(count, len(points))):
        place = chance.randint(2, MAX_PLACE)
        (folder / PLACE).write_text(str(place))
        copy = await fork(ada, session, at, change)
        view = await worker.until_the_end(ada, copy, kind.answers)
        (folder / PLACE).unlink()
        assert outcome(view) == outcome(source), (at, place)
    kept = await check_other_side(worker, ada, source, view, chance)
    if not kind.is_restored:
        return
    copy = await fork(ada, kept, {"step": points[-1][0]["step"]})
    backup, _ = await back_up(folder / "backups", app.state.resources.settings.database_url, None)
    await bring_back(backup, restored.database_url or "", None, print)
    again = create_app(restored)
    async with again.router.lifespan_context(again):
        with keeping(nursery, restored, folder / "again") as elsewhere:
            user = User(ada.id, ada.email, ada.tokens, client_of(again, ada.tokens["access_token"]))
            view = await Worker(again, elsewhere).until_the_end(user, copy, kind.answers)
    assert outcome(view) == outcome(source)


async def check_other_side(worker: Worker, ada: User, source: Json, copy: Json, chance: random.Random) -> str:
    """Delete or forget one side; return the id of the other, which is read whole and can be forked."""
    gone, kept = chance.sample([source, copy], 2)
    if chance.random() < 0.5:
        await worker.app.state.resources.database.rows("select forget_part($1, 'journal')", UUID(gone["id"]))
    else:
        deleted = await ada.http.delete(f"{SESSIONS}/{gone['id']}/data")
        assert deleted.status_code in (202, 204), deleted.text
    assert outcome((await ada.http.get(f"{SESSIONS}/{kept['id']}")).json()) == outcome(source)
    last = await fork(ada, kept["id"], {"step": len(await steps(ada, kept["id"]))})
    assert outcome(await worker.until_the_end(ada, last, {})) == outcome(source)
    return str(kept["id"])
