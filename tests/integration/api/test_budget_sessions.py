"""Whole sessions with a chat model over HTTP that hit each budget: real rows, real cells, scripted words."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from fastapi import FastAPI
from tests.scripted_chat import ScriptedChat, serving

from app.sessions.fits import FitKey
from app.sessions.sweeper import sweep
from app.settings import Settings, load_settings
from app.worker.graphs import pipeline_graphs
from app.worker.loop import Duties

from .conftest import User

pytestmark = pytest.mark.slow

PENGUINS = Path(str(files("bokeh_sampledata"))) / "_data" / "penguins.csv"
SESSIONS = "/lab/agent/sessions"
DRIVES = 200
PRICES = '["openai:scripted"]\ninput = 10\noutput = 30\n'


@pytest.fixture
def chat() -> Iterator[ScriptedChat]:
    with serving(ScriptedChat()) as chat:
        yield chat


@pytest.fixture
def settings(
    database_url: str, redis_url: str, cells_socket: Path, tmp_path: Path, chat: ScriptedChat
) -> Settings:
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES)
    return load_settings(
        _env_file=None,
        database_url=database_url,
        redis_url=redis_url,
        cells_socket=cells_socket,
        labcrew_home=tmp_path / "home",
        llm_model="openai:scripted",
        llm_base_url=chat.base_url,
        openai_api_key="test",
        llm_prices=prices,
    )


async def begun(ada: User, budget: dict[str, float]) -> UUID:
    upload = await ada.http.post("/datasets", files={"file": ("penguins.csv", PENGUINS.read_bytes())})
    wish = {
        "goal": "Which species is a penguin?",
        "dataset_ids": [upload.json()["id"]],
        "preferences": {"time_budget_s": 3, "seed": 1, "budget": budget},
    }
    created = await ada.http.post(SESSIONS, json=wish)
    assert created.status_code == 201, created.text
    return UUID(created.json()["id"])


async def until_it_waits(app: FastAPI, ada: User, session: UUID) -> dict[str, Any]:
    """Drive it, fits too, until it asks its user or has ended; at most `DRIVES` times."""
    resources = app.state.resources
    duties = Duties.of(resources, pipeline_graphs(resources))
    for _ in range(DRIVES):
        await duties.runner.advance(session)
        view: dict[str, Any] = (await ada.http.get(f"{SESSIONS}/{session}")).json()
        if view["status"] in ("awaiting_user", "completed", "failed"):
            return view
        for row in await resources.database.rows(
            "select round_key, candidate from fits where session_id = $1 and status = 'queued'", session
        ):
            await duties.fits.run(FitKey(session, row["round_key"], row["candidate"]))
        await sweep(duties.db, duties.send, grace_s=0)
    raise AssertionError(f"It neither waits nor ends: {view}")


BUDGETS = {"tokens": 9_000, "cost_usd": 0.09, "tool_calls": 5, "seconds": 2}


@pytest.mark.parametrize("resource", BUDGETS)
async def test_a_session_that_hits_its_budget_asks_and_then_reports(
    resource: str, app: FastAPI, ada: User, chat: ScriptedChat
) -> None:
    session = await begun(ada, {resource: BUDGETS[resource]})
    view = await until_it_waits(app, ada, session)
    assert view["status"] == "awaiting_user", view["error"]
    assert view["question"]["kind"] == "budget"
    used = next(one for one in view["usage"]["budget"] if one["resource"] == resource)
    assert used["used"] >= used["limit"]
    asked = len(chat.asked)
    answer = await ada.http.post(f"{SESSIONS}/{session}/respond", json={"answer": "report"})
    assert answer.status_code == 202, answer.text
    view = await until_it_waits(app, ada, session)
    assert view["status"] == "completed", view["error"]
    assert view["result"]["report"]["checked"] > 0
    assert len(chat.asked) == asked, "the provider was asked after the end of the budget"
    assert next(one for one in view["usage"]["budget"] if one["resource"] == resource)["ended"]
    trail = (await ada.http.get(f"{SESSIONS}/{session}/audit?limit=200")).json()["items"]
    assert {"budget_warning", "budget_asked", "budget_answered"} <= {row["action"] for row in trail}


async def test_a_session_that_gets_more_does_all_its_work_and_no_call_twice(
    app: FastAPI, ada: User, chat: ScriptedChat
) -> None:
    session = await begun(ada, {"tokens": 9_000})
    view = await until_it_waits(app, ada, session)
    assert view["status"] == "awaiting_user", view["error"]
    await ada.http.post(f"{SESSIONS}/{session}/respond", json={"answer": 10_000_000})
    view = await until_it_waits(app, ada, session)
    assert view["status"] == "completed", view["error"]
    assert view["result"]["model"]
    assert view["usage"]["chat_calls"] == len(chat.asked)
    assert view["usage"]["cost_usd"] > 0
    assert view["usage"]["unpriced_calls"] == 0
    agents = {part["agent"] for part in view["usage"]["parts"] if part["input_tokens"]}
    assert {"planner", "data_analyst", "model_trainer", "reporter"} <= agents
