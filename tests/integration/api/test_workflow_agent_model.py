"""Nodes of workflows that ask an agent with a chat model: its words, its tables, and the tools that it gets."""

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
from .test_workflow_agents import ask
from .test_workflow_nodes import SALES, chain, read, save, upload
from .test_workflow_runs import run

pytestmark = [
    pytest.mark.usefixtures("worker"),
    pytest.mark.skipif(bool(REAL), reason="the calls are scripted"),
]
OFFERED: list[set[str]] = []
"""Names of the tools of each request."""


def choose(asked: Json, _: int) -> AIMessage:
    """Answer the first prompt in words, and the second by SQL over the only table."""
    OFFERED.append({tool["function"]["name"] for tool in asked["tools"]})
    view = read_conversation(messages_of(asked["messages"]))
    if "three words" in view.brief["message"]:
        return AIMessage("Sales went up.")
    (table,) = [table["table"] for table in view.brief["tables"]]
    if view.last_success("execute_sql"):
        return AIMessage("It is the total.")
    sql = f"SELECT sum(amount) AS total FROM {table}"
    return AIMessage("", tool_calls=[tool_call(name="execute_sql", args={"sql": sql}, id="s")])


@pytest.fixture
def chat() -> Iterator[ScriptedChat]:
    with serving(ScriptedChat(choose)) as chat:
        yield chat


@pytest.fixture
def settings(settings: Settings, chat: ScriptedChat, tmp_path: Path) -> Settings:
    return chatting(settings, chat, tmp_path)


async def test_a_model_answers_in_words_or_by_a_table_of_its_input(ada: User) -> None:
    OFFERED.clear()
    dataset = await upload(ada, "sales", SALES)
    words = ask("say in three words how {{read.rows}} sales went", "words")
    keep: dict[str, Any] = {"id": "keep", "type": "store", "config": {"name": "{{words.answer}}"}}
    content = chain(read(dataset), words, keep)
    content["nodes"].append(ask("what is the total?", "table"))
    content["edges"].append({"from": "read", "to": "table"})
    ended = await run(ada, await save(ada, content))
    assert ended["outcome"] == "succeeded", ended["nodes"]
    spoken, table = ended["nodes"]["words"], ended["nodes"]["table"]
    assert (spoken["answer"], spoken["preview"]) == ("Sales went up.", [["Sales went up."]])
    assert [column["name"] for column in spoken["columns"]] == ["answer"]
    assert (table["answer"], table["preview"]) == ("It is the total.", [[36]])
    stored = (await ada.http.get(f"/datasets/{ended['nodes']['keep']['dataset_id']}")).json()
    assert (stored["name"], stored["rows"]) == ("Sales went up.", 1)
    assert "execute_sql" in OFFERED[0]
    assert not OFFERED[0] & {"patch_workflow", "execute_pipeline", "start_study", "edit_file"}
