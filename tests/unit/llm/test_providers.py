"""One setting chooses the chat model."""

import sys
from importlib import import_module

import pytest
from langchain.chat_models.base import _get_chat_model_creator
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.tool import tool_call

from app.errors import InvalidInput, Unavailable
from app.llm.config import ChatConfig
from app.llm.offline_chat_model import OfflineChatModel
from app.llm.provider_catalog import PROVIDERS
from app.llm.providers import (
    DEFAULT_CONTEXT_TOKENS,
    NamedChatModel,
    open_chat_models,
    open_usable_models,
    prompt_caching,
)


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


def without_package(provider, monkeypatch):
    monkeypatch.setitem(sys.modules, PROVIDERS[provider].package, None)
    _get_chat_model_creator.cache_clear()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_missing_package_is_reported_with_its_install_command(provider, monkeypatch):
    without_package(provider, monkeypatch)
    with pytest.raises(Unavailable) as error:
        open_chat_models(ChatConfig(f"{provider}:model"), "planner", echo)
    assert f"pip install {PROVIDERS[provider].package.replace('_', '-')}" in error.value.detail


async def test_a_model_that_cannot_be_opened_says_so_when_it_is_asked(monkeypatch):
    without_package("anthropic", monkeypatch)
    config = ChatConfig("anthropic:claude", fallbacks=("offline",))
    unusable, offline = open_usable_models(config, "planner", echo)
    assert (unusable.name, offline.is_offline) == ("anthropic:claude", True)
    with pytest.raises(Exception, match="langchain-anthropic, which is not installed"):
        await unusable.model.ainvoke([HumanMessage("hi")])


@pytest.mark.parametrize("provider", [name for name, row in PROVIDERS.items() if row.model])
def test_every_default_model_is_one_that_its_client_knows_to_call_tools(provider):
    profiles = import_module(f"{PROVIDERS[provider].package}.data._profiles")._PROFILES
    assert profiles[PROVIDERS[provider].model]["tool_calling"]


@pytest.mark.parametrize(("name", "tokens"), [("openai:gpt-5.5", 20_096), ("openai:gpt-4.1", 4096)])
def test_a_model_that_thinks_has_tokens_for_it(name, tokens):
    config = ChatConfig(name, keys={"openai": "k"}, max_tokens=4096)
    assert open_chat_models(config, "planner", echo)[0].model.max_tokens == tokens


@pytest.mark.parametrize("name", ["nobody:model", "no-such-model"])
def test_an_unknown_model_name_is_refused(name):
    with pytest.raises((InvalidInput, Unavailable)) as error:
        open_chat_models(ChatConfig(name), "planner", echo)
    assert name in error.value.detail


def test_a_key_is_not_shown():
    assert "secret" not in repr(ChatConfig("openai:x", keys={"openai": "secret"}))


async def test_the_offline_model_derives_call_ids_from_their_position():
    model = OfflineChatModel(decide=echo)
    first = await model.ainvoke([HumanMessage("hi")])
    again = await model.bind_tools([]).ainvoke([HumanMessage("hi"), first])
    assert [call["id"] for call in first.tool_calls] == ["call_0_0", "call_0_1"]
    assert [call["id"] for call in again.tool_calls] == ["call_1_0", "call_1_1"]
    assert (first.id, again.id) == ("message_0", "message_1")


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("openai:gpt-4.1", "max_tokens"),
        ("azure_openai:gpt-4.1", "max_tokens"),
        ("anthropic:unlisted", "max_tokens"),
        ("google_genai:unlisted", "max_output_tokens"),
        ("ollama:qwen3", "num_predict"),
        ("openrouter:unlisted", "max_tokens"),
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


AZURE = {"azure_endpoint": "https://lab.example", "azure_api_version": "2025-04-01"}


@pytest.mark.parametrize(
    ("name", "given", "address"),
    [
        ("openai:a", {}, "https://api.openai.com/v1/"),
        ("openai:a", {"base_url": "http://gpu:8000/v1"}, "http://gpu:8000/v1/"),
        ("azure_openai:a", AZURE, "https://lab.example/openai/"),
        ("azure_openai:a", {**AZURE, "base_url": "http://gpu:8000/v1"}, "https://lab.example/openai/"),
        ("anthropic:a", {}, "https://api.anthropic.com"),
        ("anthropic:a", {"base_url": "http://proxy:8000"}, "http://proxy:8000"),
        ("openrouter:a/b", {}, "https://openrouter.ai/api/v1"),
        ("openrouter:a/b", {"base_url": "http://proxy:8000/v1"}, "http://proxy:8000/v1"),
        ("ollama:a", {}, "http://127.0.0.1:11434"),
        ("ollama:a", {"base_url": "http://gpu:11434"}, "http://gpu:11434"),
    ],
)
def test_each_provider_is_asked_at_its_address(name, given, address, monkeypatch):
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    config = ChatConfig(name, keys={name.partition(":")[0]: "planted"}, **given)
    [speaker] = open_chat_models(config, "planner", echo)
    assert str(ADDRESS[type(speaker.model).__name__](speaker.model)) == address


ADDRESS = {
    "ChatOpenAI": lambda model: model.root_async_client.base_url,
    "AzureChatOpenAI": lambda model: model.root_async_client.base_url,
    "ChatAnthropic": lambda model: model._async_client.base_url,
    "ChatOpenRouter": lambda model: model.client.sdk_configuration.get_server_details()[0],
    "ChatOllama": lambda model: model._async_client._client.base_url,
}


@pytest.mark.parametrize(
    ("name", "variables"),
    [
        ("openai:a", "needs OPENAI_API_KEY to"),
        ("azure_openai:a", "needs AZURE_OPENAI_API_KEY and AZURE_OPENAI_ENDPOINT and OPENAI_API_VERSION to"),
        ("anthropic:a", "needs ANTHROPIC_API_KEY to"),
        ("google_genai:a", "needs GOOGLE_API_KEY or GEMINI_API_KEY to"),
        ("openrouter:a", "needs OPENROUTER_API_KEY to"),
    ],
)
def test_missing_settings_of_a_provider_are_named(name, variables):
    with pytest.raises(InvalidInput) as error:
        open_chat_models(ChatConfig(name), "planner", echo)
    assert variables in error.value.detail


def test_a_local_server_needs_no_key():
    [speaker] = open_chat_models(ChatConfig("openai:a", "http://gpu:8000/v1"), "planner", echo)
    assert speaker.model.openai_api_key.get_secret_value() == "none"


def test_a_refused_setting_is_reported_without_the_key():
    config = ChatConfig("openrouter:a", keys={"openrouter": "planted"}, max_tokens="many")
    with pytest.raises(InvalidInput) as error:
        open_chat_models(config, "planner", echo)
    assert "valid integer" in error.value.detail
    assert "planted" not in error.value.detail


def test_an_agent_may_think_with_another_model_and_fall_back_to_the_offline_one():
    config = ChatConfig(
        "openai:a", "http://127.0.0.1:9/v1", {"openai": "k"}, {"planner": "ollama:b"}, ("openai:a", "offline")
    )
    planner = open_chat_models(config, "planner", echo)
    assert [speaker.name for speaker in planner] == ["ollama:b", "openai:a", "offline"]
    assert planner[0].model.base_url is None
    assert [speaker.name for speaker in open_chat_models(config, "reporter", echo)] == ["openai:a", "offline"]


def test_the_context_is_the_models_limit_unless_configured():
    keys = {"anthropic": "k", "openai": "k"}
    known, unknown, said = (
        open_chat_models(ChatConfig(name, keys=keys, context_tokens=room), "planner", echo)
        for name, room in (("anthropic:claude-sonnet-4-5", None), ("openai:x", None), ("openai:x", 9_000))
    )
    assert known[0].context_tokens >= 200_000
    assert (unknown[0].context_tokens, said[0].context_tokens) == (DEFAULT_CONTEXT_TOKENS, 9_000)


def test_prompts_for_anthropic_are_marked_for_its_cache():
    assert prompt_caching(ChatConfig("openai:a"), "planner") == []
    assert len(prompt_caching(ChatConfig("openai:a", by_agent={"planner": "anthropic:b"}), "planner")) == 1


def test_a_failure_is_described_without_the_key():
    speaker = NamedChatModel("openai:a", OfflineChatModel(decide=echo), key="planted-key")
    assert speaker.describe_error(ValueError("Incorrect key provided: planted-key.")) == (
        "ValueError: Incorrect key provided: ***."
    )
