"""One setting chooses the chat model."""

import sys

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.tool import tool_call

from app.errors import InvalidInput, Unavailable
from app.llm.config import ChatConfig
from app.llm.offline import OfflineChatModel
from app.llm.providers import CONTEXT_TOKENS, Speaker, caching, open_chat_models


def echo(messages):
    made = [tool_call(name="a", args={"n": len(messages)}, id=None), tool_call(name="b", args={}, id=None)]
    return AIMessage("", tool_calls=made)


def test_offline_needs_nothing():
    assert isinstance(open_chat_models(ChatConfig(), "planner", echo)[0].model, OfflineChatModel)


def test_a_local_server_is_an_openai_model_with_its_own_address():
    config = ChatConfig("openai:qwen", base_url="http://127.0.0.1:9/v1", keys={"openai": "none"}, max_tokens=77)
    model = open_chat_models(config, "planner", echo)[0].model
    assert type(model).__name__ == "ChatOpenAI"
    assert (model.model_name, model.openai_api_base) == ("qwen", "http://127.0.0.1:9/v1")
    assert (model.max_tokens, model.max_retries) == (77, 0)


def test_a_missing_package_is_said_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "langchain_anthropic", None)
    with pytest.raises(Unavailable) as error:
        open_chat_models(ChatConfig("anthropic:claude-opus-4-8"), "planner", echo)
    assert "pip install 'labcrew[anthropic]'" in error.value.detail


@pytest.mark.parametrize("name", ["nobody:model", "no-such-model"])
def test_a_name_that_nobody_knows_is_refused(name):
    with pytest.raises((InvalidInput, Unavailable)) as error:
        open_chat_models(ChatConfig(name), "planner", echo)
    assert name in error.value.detail


def test_a_key_is_not_shown():
    assert "secret" not in repr(ChatConfig("openai:x", keys={"openai": "secret"}))


async def test_the_offline_model_numbers_its_calls_by_their_place():
    model = OfflineChatModel(decide=echo)
    first = await model.ainvoke([HumanMessage("hi")])
    again = await model.bind_tools([]).ainvoke([HumanMessage("hi"), first])
    assert [call["id"] for call in first.tool_calls] == ["call_0_0", "call_0_1"]
    assert [call["id"] for call in again.tool_calls] == ["call_1_0", "call_1_1"]
    assert (first.id, again.id) == ("message_0", "message_1")


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("openai:gpt-5.5", "max_tokens"),
        ("azure_openai:gpt-5.5", "max_tokens"),
        ("anthropic:claude-sonnet-4-5", "max_tokens"),
        ("ollama:qwen3", "num_predict"),
        ("openrouter:openai/gpt-5", "max_tokens"),
    ],
)
def test_a_provider_of_an_extra_opens_with_our_settings(name, length):
    config = ChatConfig(
        name,
        keys={name.partition(":")[0]: "planted"},
        max_tokens=77,
        azure_endpoint="https://labcrew.example",
        azure_api_version="2025-04-01",
    )
    [speaker] = open_chat_models(config, "planner", echo)
    assert (speaker.name, getattr(speaker.model, length)) == (name, 77)
    assert "planted" not in repr(speaker) + repr(config)


def test_an_agent_may_think_with_another_model_and_fall_back_to_the_offline_one():
    config = ChatConfig(
        "openai:a", "http://127.0.0.1:9/v1", {"openai": "k"}, {"planner": "ollama:b"}, ("openai:a", "offline")
    )
    planner = open_chat_models(config, "planner", echo)
    assert [speaker.name for speaker in planner] == ["ollama:b", "openai:a", "offline"]
    assert planner[0].model.base_url is None
    assert [speaker.name for speaker in open_chat_models(config, "reporter", echo)] == ["openai:a", "offline"]


def test_the_window_is_what_the_model_is_known_to_take_unless_the_operator_says():
    keys = {"anthropic": "k", "openai": "k"}
    known, unknown, said = (
        open_chat_models(ChatConfig(name, keys=keys, context_tokens=room), "planner", echo)
        for name, room in (("anthropic:claude-sonnet-4-5", None), ("openai:x", None), ("openai:x", 9_000))
    )
    assert known[0].context_tokens >= 200_000
    assert (unknown[0].context_tokens, said[0].context_tokens) == (CONTEXT_TOKENS, 9_000)


def test_the_prompt_is_marked_for_the_cache_where_the_provider_wants_to_be_told():
    assert caching(ChatConfig("openai:a"), "planner") == []
    assert len(caching(ChatConfig("openai:a", by_agent={"planner": "anthropic:b"}), "planner")) == 1


def test_a_failure_is_told_without_the_key():
    speaker = Speaker("openai:a", OfflineChatModel(decide=echo), key="planted-key")
    assert speaker.safe(ValueError("Incorrect key provided: planted-key.")) == (
        "ValueError: Incorrect key provided: ***."
    )
