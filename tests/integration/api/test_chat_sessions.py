"""Whole sessions with a chat model through the API: all the way, with questions, and with approvals."""

import random
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call
from tests.scripted_chat import ScriptedChat, by_policy, output_of, serving

from app.settings import Settings

from .chatting import REAL, SESSIONS, Json, begin_session, chatting, trail, until_it_waits, until_the_end
from .conftest import User

pytestmark = pytest.mark.slow

PENGUINS = Path(str(files("bokeh_sampledata"))) / "_data" / "penguins.csv"


@pytest.fixture
def chat() -> Iterator[ScriptedChat]:
    with serving(ScriptedChat()) as chat:
        yield chat


@pytest.fixture
def settings(settings: Settings, chat: ScriptedChat, tmp_path: Path) -> Settings:
    return chatting(settings, chat, tmp_path)


def proven(view: Json, chat: ScriptedChat) -> None:
    """It came to its end, with every answer of a model paid once."""
    assert view["status"] == "completed", view["error"]
    assert view["result"]["report"]["checked_claims"] > 0
    used = view["usage"]
    fresh = used["input_tokens"] - used["cached_tokens"]
    cost = (fresh * 10 + used["cached_tokens"] * 1 + used["output_tokens"] * 30) / 1e6
    assert used["cost_usd"] == pytest.approx(cost)
    assert REAL or used["cached_tokens"] > 0
    assert view["usage"]["unpriced_calls"] == 0
    if not REAL:
        assert view["usage"]["chat_calls"] == len(chat.requests)


async def test_a_session_goes_all_the_way(app: FastAPI, ada: User, chat: ScriptedChat) -> None:
    session = await begin_session(ada, "penguins.csv", PENGUINS.read_bytes(), "Which species is a penguin?")
    view, asked = await until_the_end(app, ada, session, lambda question: question["default"])
    proven(view, chat)
    if not REAL:
        assert asked == []
        agents = {part["agent"] for part in view["usage"]["breakdown"] if part["input_tokens"]}
        assert {"planner", "data_retrieval", "data_analyst", "model_trainer", "model_evaluator"} <= agents


async def test_a_plan_is_edited_over_the_wire_and_followed(app: FastAPI, ada: User, chat: ScriptedChat) -> None:
    table, goal = PENGUINS.read_bytes(), "Which species is a penguin?"
    session = await begin_session(ada, "penguins.csv", table, goal, review_plan=True, target="species")
    view = await until_it_waits(app, ada, session)
    assert view["question"]["about"]["plan"]["target"] == "species"
    edit = {"metric": "f1", "families": ["LogisticRegression"], "exclude": ["island"]}
    for changes, hint in (
        ({**edit, "exclude": ["islnd"]}, "Did you mean island?"),
        ({**edit, "famlies": []}, "Did you mean families"),
        ({**edit, "stages": ["analysis"]}, "Did you mean data_analysis"),
    ):
        wrong = {"answer": {"decision": "edit", "plan": changes}}
        refused = await ada.http.post(f"{SESSIONS}/{session}/respond", json=wrong)
        assert refused.status_code == 422
        assert hint in refused.json()["detail"]
    answers = {"approval": {"decision": "edit", "plan": edit}}
    view, _ = await until_the_end(app, ada, session, lambda one: answers.get(one["kind"], one["default"]))
    proven(view, chat)
    assert view["result"]["problem"]["metric"] == "f1"
    assert view["result"]["problem"]["exclude"] == ["island"]
    fits = (await ada.http.get(f"{SESSIONS}/{session}/results")).json()["candidates"]
    assert {fit["name"].partition("-")[0] for fit in fits} == {"baseline", "LogisticRegression"}


def visits(rows: int = 300) -> bytes:
    """Nothing says what to predict, of whom, or whether the day or the month comes first."""
    chance = random.Random(4)
    lines = ["guest,visited,stars,spent"]
    for row in range(rows):
        stars = chance.randint(1, 5)
        date = f"{chance.randint(1, 12):02}/{chance.randint(1, 12):02}/2024"
        lines.append(f"G{row % 60:03},{date},{stars},{stars * 10 + chance.random() * 20:.2f}")
    return "\n".join(lines).encode()


async def test_a_session_that_two_things_are_unclear_to_asks_twice(
    app: FastAPI, ada: User, chat: ScriptedChat
) -> None:
    session = await begin_session(ada, "visits.csv", visits(), "Find out what our guests will do.")
    wanted = {"Which column should": "stars", "day or the month": "day first"}

    def answer(question: Json) -> Any:
        assert question["kind"] == "clarification"
        said = next((value for words, value in wanted.items() if words in question["text"]), None)
        return question["default"] if said is None else said

    view, asked = await until_the_end(app, ada, session, answer)
    proven(view, chat)
    if REAL:
        return
    assert len(asked) == len(wanted)
    assert len({question["key"] for question in asked}) == len(wanted)
    assert view["result"]["problem"]["target"] == "stars"
    assert view["result"]["problem"]["kind"] == "regression"
    answers = [
        row["detail"]["answer"]
        for row in await trail(ada, session)
        if row["action"] == "clarification_answered"
    ]
    assert answers == list(wanted.values())


def edit(old: str, new: str) -> tuple[str, Json]:
    return "edit_file", {"name": "notes.md", "old": old, "new": new}


SCRIPT: tuple[tuple[tuple[str, Json], ...], ...] = (
    (("write_file", {"name": "notes.md", "text": "mean: one\nmedian: two\n"}),),
    (edit("mean: one", "mean: a"), edit("median: two", "median: b")),
    (edit("mean: a", "mean: c"),),
    (edit("mean: d", "mean: e"),),
    (edit("mean: d", "mean: f"),),
    (edit("mean: f", "mean: g"),),
    (("read_file", {"name": "notes.md"}),),
)
ANSWERS: tuple[Any, ...] = (
    "approve",
    {"decision": "reject", "reason": "The median was checked by hand."},
    {"decision": "approve", "arguments": dict(edit("mean: a", "mean: d")[1])},
    "reject",
    "always in this session",
)
"""One for each edit but the last, which the rule lets through."""


def writing(asked: Json, place: int) -> AIMessage:
    """The analyst keeps notes; then, and everyone else, as the policy has it."""
    if output_of(asked) != "Analysis":
        return by_policy(asked, place)
    said = [message for message in asked["messages"] if message["role"] == "assistant"]
    if len(said) >= len(SCRIPT):
        return by_policy(asked, place)
    calls = [tool_call(name=name, args=arguments, id=None) for name, arguments in SCRIPT[len(said)]]
    return AIMessage("I keep notes.", tool_calls=calls)


@pytest.mark.skipif(bool(REAL), reason="which files a model edits is its own choice")
async def test_every_kind_of_decision_binds_the_call_that_it_was_asked_for(
    app: FastAPI, ada: User, chat: ScriptedChat
) -> None:
    chat.answer = writing
    session = await begin_session(ada, "penguins.csv", PENGUINS.read_bytes(), "Which species is a penguin?")
    answers = iter(ANSWERS)
    view, asked = await until_the_end(app, ada, session, lambda question: next(answers))
    proven(view, chat)
    assert [question["kind"] for question in asked] == ["approval"] * len(ANSWERS)
    assert "-median: two\n+median: b" in asked[1]["about"]["preview"]
    analyst = [one for one in chat.requests if output_of(one) == "Analysis"][-1]
    heard = [part["content"] for part in analyst["messages"] if part["role"] == "tool"]
    assert "rejected this call: The median was checked by hand." in heard[2]
    assert "rejected this call" in heard[4]
    assert "mean: g\\nmedian: two" in heard[7]
    [rule] = (await ada.http.get(f"{SESSIONS}/{session}/allowances")).json()
    assert rule["tool"] == "edit_file"
    rows = await trail(ada, session)
    decided = [row["detail"]["answer"] for row in rows if row["action"] == "approval_answered"]
    assert decided == list(ANSWERS)
    assert sum(row["action"] == "tool_called" and row["detail"]["name"] == "edit_file" for row in rows) == 6
