"""A chat model over the wire, a service that repeats the secret of a request, and no trace of it anywhere."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call
from tests.scripted_chat import ScriptedChat, messages_of, serving

from app.agents.runtime.conversation import read_conversation
from app.settings import Settings

from .chatting import REAL, Json, chatting
from .conftest import User
from .test_chat_workflows import approve
from .test_threads import ask
from .test_workflow_agents import ask as make_agent
from .test_workflow_nodes import chain, save
from .test_workflow_runs import HIDDEN, Outside, log, outside, ready, run  # noqa: F401 - fixtures

pytestmark = [
    pytest.mark.usefixtures("worker", "ready"),
    pytest.mark.skipif(bool(REAL), reason="the calls are scripted"),
]
PROMPTS: list[str] = []
"""Bodies of all requests that reached the model."""


def make_request(outside: Outside, path: str = "/echo") -> dict[str, Any]:  # noqa: F811
    config = {"url": f"{outside.url}{path}", "secret": "token", "records": "/flights", "retries": 0}
    return {"type": "http_request", "config": config}


@pytest.fixture
def chat(outside: Outside) -> Iterator[ScriptedChat]:  # noqa: F811
    def choose(asked: Json, _: int) -> AIMessage:
        """Run the request that repeats the secret and one that fails, keep the first, and describe its rows."""
        PROMPTS.append(json.dumps(asked))
        view = read_conversation(messages_of(asked["messages"]))
        if "describe" in view.brief["message"]:
            return AIMessage("It has one row.")
        steps = [make_request(outside)]
        calls = [
            ("execute_pipeline", {"steps": [make_request(outside, "/broken")]}),
            ("execute_pipeline", {"steps": steps}),
        ]
        if "daily" in view.brief["message"]:
            calls = [("patch_workflow", {"steps": steps, "words": "run it every day at 8", "name": "Echo"})]
        done = len(view.completed_calls)
        if done < len(calls):
            name, arguments = calls[done]
            return AIMessage("", tool_calls=[tool_call(name=name, args=arguments, id=f"c{done}")])
        return AIMessage("Here it is.")

    with serving(ScriptedChat(choose)) as chat:
        yield chat


@pytest.fixture
def settings(settings: Settings, chat: ScriptedChat, outside: Outside, tmp_path: Path) -> Settings:  # noqa: F811
    hosts = (outside.url.removeprefix("http://"),)
    return chatting(settings, chat, tmp_path).model_copy(update={"http_allowed_hosts": hosts})


async def test_a_repeated_secret_reaches_no_prompt_event_log_error_or_row(
    app: FastAPI,
    ada: User,
    outside: Outside,  # noqa: F811
    log: io.StringIO,  # noqa: F811
) -> None:
    PROMPTS.clear()
    # Requests of saved workflows need no consent of their own.
    describing = chain({"id": "echo", **make_request(outside)}, make_agent("describe the rows", "words"))
    saved = await save(ada, describing)
    failing = await save(ada, chain({"id": "echo", **make_request(outside, "/broken")}))
    shown = await ask(ada, "fetch the echo")
    assert shown["table"]["row_count"] == 1, shown
    kept = await approve(ada, await ask(ada, "do it daily", thread_id=shown["thread_id"]))
    assert kept["workflow"]["name"] == "Echo", kept
    ended = await run(ada, saved)
    assert ended["outcome"] == "succeeded", ended
    broken = await run(ada, failing)
    assert broken["outcome"] == "failed"
    assert sum(f"Bearer {HIDDEN}" in head for head in outside.heads) >= 4, "the service did get it"

    assert len(PROMPTS) >= 5
    assert "__secret__" in "".join(PROMPTS), "the model saw the row, without the secret"
    assert HIDDEN not in "".join(PROMPTS)
    assert HIDDEN not in json.dumps([shown, kept, ended, broken])
    database = app.state.resources.database
    for table in await database.column("select tablename from pg_tables where schemaname = 'public'"):
        rows = await database.rows(f'select * from "{table}"')
        assert HIDDEN not in f"{[dict(row) for row in rows]}", table
    assert HIDDEN not in log.getvalue()
