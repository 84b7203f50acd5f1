"""Whole sessions with a chat model over HTTP that hit each budget: real rows, real cells, scripted words."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from tests.scripted_chat import ScriptedChat, serving

from app.settings import Settings

from .chatting import REAL, Json, begin_session, chatting, trail, until_the_end
from .conftest import User

pytestmark = pytest.mark.slow

PENGUINS = Path(str(files("bokeh_sampledata"))) / "_data" / "penguins.csv"
GOAL = "Which species is a penguin?"


@pytest.fixture
def chat() -> Iterator[ScriptedChat]:
    with serving(ScriptedChat()) as chat:
        yield chat


@pytest.fixture
def settings(settings: Settings, chat: ScriptedChat, tmp_path: Path) -> Settings:
    return chatting(settings, chat, tmp_path)


BUDGETS = {"tokens": 9_000, "cost_usd": 0.09, "tool_calls": 5, "seconds": 2}


@pytest.mark.parametrize("resource", BUDGETS)
async def test_a_session_that_hits_its_budget_asks_and_then_reports(
    resource: str, app: FastAPI, ada: User, chat: ScriptedChat
) -> None:
    budget = {resource: BUDGETS[resource]}
    session = await begin_session(ada, "penguins.csv", PENGUINS.read_bytes(), GOAL, budget=budget)
    spent: list[Json] = []

    def answer(question: Json) -> Any:
        if question["kind"] != "budget":
            return question["default"]
        spent.append({**question, "requests": len(chat.requests)})
        return "report"

    view, _ = await until_the_end(app, ada, session, answer)
    assert view["status"] == "completed", view["error"]
    [question] = spent
    assert f"budget:{resource}:" in question["key"]
    assert view["result"]["report"]["checked_claims"] > 0
    assert len(chat.requests) == question["requests"], "the provider was asked after the end of the budget"
    used = next(one for one in view["usage"]["budget"] if one["resource"] == resource)
    assert used["exhausted"]
    assert used["used"] >= used["limit"]
    actions = {row["action"] for row in await trail(ada, session)}
    assert {"budget_warning", "budget_asked", "budget_answered"} <= actions


async def test_a_session_that_gets_more_does_all_its_work_and_no_call_twice(
    app: FastAPI, ada: User, chat: ScriptedChat
) -> None:
    budget = {"tokens": 9_000}
    session = await begin_session(ada, "penguins.csv", PENGUINS.read_bytes(), GOAL, budget=budget)
    more = {"budget": 10_000_000}
    view, asked = await until_the_end(app, ada, session, lambda one: more.get(one["kind"], one["default"]))
    assert view["status"] == "completed", view["error"]
    assert sum(question["kind"] == "budget" for question in asked) == 1
    assert view["result"]["model"]
    assert REAL or view["usage"]["chat_calls"] == len(chat.requests)
    assert view["usage"]["cost_usd"] > 0
    assert view["usage"]["unpriced_calls"] == 0
    agents = {part["agent"] for part in view["usage"]["breakdown"] if part["input_tokens"]}
    assert {"planner", "data_analyst", "model_trainer", "reporter"} <= agents
