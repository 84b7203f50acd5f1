"""An OpenAI-compatible server, by LLM_MODEL and LLM_BASE_URL: the same crew, over real HTTP."""

from typing import Any, get_args

import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call
from tests.scripted_chat import Fault, ScriptedChat, serving

from app.agents.roster import assemble_crew
from app.errors import Unavailable
from app.llm.config import ChatConfig
from app.sessions.events.events import TokenStreamed
from app.tools.toolsets import Toolsets

CALLS = [
    ("list_datasets", {}),
    ("get_dataset_schema", {"dataset": "titanik"}),
    ("get_dataset_schema", {"dataset": "titanic"}),
    ("Plan", {"target": "survived", "tables": ["titanic"], "metric": "roc_auc"}),
]
BRIEF = {"goal": "Predict which passengers survived", "preferences": {}}


def in_turn(_: Any, place: int) -> AIMessage:
    name, arguments = CALLS[place]
    return AIMessage("I go on.", tool_calls=[tool_call(name=name, args=arguments, id=f"c{place}")])


def config(chat: ScriptedChat, **more: Any) -> ChatConfig:
    return ChatConfig("openai:local", base_url=chat.base_url, keys={"openai": "k"}, **more)


@pytest.mark.parametrize("streaming", [False, True])
async def test_the_planner_works_over_an_openai_compatible_server(bench, tables, streaming):
    bench.shelf.datasets = [tables["titanic"]]
    with serving(ScriptedChat(in_turn)) as chat:
        bench.crew = assemble_crew(config(chat, streaming=streaming), Toolsets())
        thought = await bench.run("planner", BRIEF)
    assert (thought.output.target, thought.output.metric) == ("survived", "roc_auc")
    first, *_, last = chat.requests
    assert (first["path"], first["key"], first["model"]) == ("/v1/chat/completions", "Bearer k", "local")
    offered = {tool["function"]["name"] for tool in first["tools"]}
    assert offered == {"list_datasets", "get_dataset_schema", "get_available_coins", "ask_user", "Plan"}
    assert "Did you mean titanic?" in last["messages"][5]["content"]
    chats = [recorded for call, recorded in bench.journal.recorded if call.kind == "chat"]
    assert len(chats) == 4
    assert all(recorded.usage["input_tokens"] > 100 for recorded in chats)
    assert all(recorded.usage["output_tokens"] > 10 for recorded in chats)
    words = [event.text for event in bench.journal.events if isinstance(event, TokenStreamed)]
    assert "".join(words).split() == ["I", "go", "on."] * 4 * streaming


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("fault", [fault for fault in get_args(Fault) if fault != "no json"])
async def test_a_provider_that_stumbles_is_asked_again(bench, tables, fault, streaming):
    """Over the wire, at the planner's first request and again in the middle."""
    bench.shelf.datasets = [tables["titanic"]]
    with serving(ScriptedChat(faults={0: fault, 2: fault})) as chat:
        bench.crew = assemble_crew(config(chat, streaming=streaming), Toolsets())
        thought = await bench.run("planner", BRIEF)
    assert thought.output.target == "survived"
    assert len(chat.requests) == chat.answer_count + (0 if fault == "slow" else 2)
    assert bench.tools == ["list_datasets", "get_dataset_schema"]


@pytest.mark.parametrize("streaming", [False, True])
async def test_an_address_that_is_no_chat_model_ends_readably(bench, tables, streaming):
    bench.shelf.datasets = [tables["titanic"]]
    with serving(ScriptedChat(faults=dict.fromkeys(range(9), "no json"))) as chat:
        bench.crew = assemble_crew(config(chat, streaming=streaming), Toolsets())
        with pytest.raises(Unavailable, match="openai:local: "):
            await bench.run("planner", BRIEF)


async def test_a_provider_that_never_answers_ends_readably(bench, tables):
    bench.shelf.datasets = [tables["titanic"]]
    with serving(ScriptedChat(faults=dict.fromkeys(range(9), "500"))) as chat:
        bench.crew = assemble_crew(config(chat, max_retries=1), Toolsets())
        with pytest.raises(Unavailable, match=r"openai:local: .* 500 - Something broke"):
            await bench.run("planner", BRIEF)
    assert len(chat.requests) == 2
