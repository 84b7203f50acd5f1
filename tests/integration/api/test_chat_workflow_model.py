"""Both lanes with a chat model that chooses the tools: a patch of operations, and steps that run now."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call
from tests.scripted_chat import ScriptedChat, messages_of, serving

from app.agents.runtime.conversation import read_conversation
from app.settings import Settings

from .chatting import REAL, Json, chatting
from .conftest import User
from .test_chat_workflows import approve, read_nodes
from .test_threads import ask
from .test_workflow_nodes import chain, save, upload

pytestmark = [
    pytest.mark.usefixtures("worker"),
    pytest.mark.skipif(bool(REAL), reason="the calls are scripted"),
]


def choose(asked: Json, _: int) -> AIMessage:
    """Read the workflow that the brief names, patch it, and mend an operation that was refused."""
    view = read_conversation(messages_of(asked["messages"]))
    workflow = view.brief["workflows"][0]["id"]
    if "two rows" in view.brief["message"]:
        steps = [
            {"type": "plan", "config": {"plan": {"source": MADE}}},
            {"type": "limit", "config": {"rows": 2}},
        ]
        return _next(view, ("execute_pipeline", {"steps": steps}), "There are two.")
    if not view.was_called("read_workflow"):
        return AIMessage("", tool_calls=[tool_call(name="read_workflow", args={"workflow": workflow}, id="r")])
    column = "n" if view.refusals("patch_workflow") else "m"
    operation = {"op": "replace", "path": "/nodes/@best/config", "value": {"k": 3, "by": column}}
    arguments = {"workflow": workflow, "operations": [operation], "words": "Keep three."}
    return _next(view, ("patch_workflow", arguments), "It keeps three rows from now on.")


def _next(view: Any, call: tuple[str, dict[str, Any]], words: str) -> AIMessage:
    if view.last_success(call[0]):
        return AIMessage(words)
    return AIMessage("", tool_calls=[tool_call(name=call[0], args=call[1], id=f"c{len(view.completed_calls)}")])


MADE = {"kind": "generate", "rows": 9, "columns": [{"name": "n", "type": "index"}]}


@pytest.fixture
def chat() -> Iterator[ScriptedChat]:
    with serving(ScriptedChat(choose)) as chat:
        yield chat


@pytest.fixture
def settings(settings: Settings, chat: ScriptedChat, tmp_path: Path) -> Settings:
    return chatting(settings, chat, tmp_path)


async def test_a_model_patches_after_approval_and_runs_steps_without(ada: User) -> None:
    dataset = await upload(ada, "numbers", "n\n1\n2\n3\n4\n")
    read = {"id": "read", "type": "read_dataset", "config": {"dataset_id": dataset}}
    await save(ada, chain(read, {"id": "best", "type": "top_k", "config": {"k": 2, "by": "n"}}))
    asked = await ask(ada, "from now on keep three rows")
    assert "~ best config.k: 2 -> 3" in asked["question"]["about"]["preview"], asked
    changed = await approve(ada, asked)
    assert changed["text"] == "It keeps three rows from now on."
    assert (await read_nodes(ada, changed))["best"] == {"k": 3, "by": "n"}
    shown = await ask(ada, "show two rows now", thread_id=changed["thread_id"])
    assert (shown["table"]["rows"], shown["workflow"]) == ([[0], [1]], None), shown
