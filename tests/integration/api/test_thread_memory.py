"""What a conversation recalls of turns before its window."""

import json
from uuid import UUID

import pytest
from fastapi import FastAPI

from app.settings import Settings

from .conftest import User
from .test_threads import ask, dataset

__all__ = ["dataset"]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"thread_history_window": 2})


@pytest.mark.usefixtures("worker")
async def test_turns_before_the_window_are_summarized_in_a_recorded_call(
    app: FastAPI, ada: User, dataset: str
) -> None:
    turn = await ask(ada, "SQL: select count(*) as n from cities", dataset_ids=[dataset])
    place = {"thread_id": turn["thread_id"]}
    for message in ("total people by country", "SQL: select 1 as n", "total people"):
        turn = await ask(ada, message, **place)
    db = app.state.resources.database
    value = await db.value(
        "select result from calls where session_id = $1 and key = 'context'", UUID(turn["turn_id"])
    )
    context = json.loads(value) if isinstance(value, str) else value
    assert [earlier["message"] for earlier in context["earlier"]] == [
        "total people by country",
        "SQL: select 1 as n",
    ]
    line = f"- SQL: select count(*) as n from cities -> {await first_answer(ada, place)}"
    assert context["summary"].splitlines() == [line]


async def first_answer(user: User, place: dict[str, str]) -> str:
    messages = (await user.http.get(f"/threads/{place['thread_id']}/messages")).json()["messages"]
    return " ".join(messages[1]["text"].split())
