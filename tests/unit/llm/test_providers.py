"""One setting chooses the chat model."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.tool import tool_call

from app.errors import InvalidInput, Unavailable
from app.llm.config import ChatConfig
from app.llm.offline import OfflineChatModel
from app.llm.providers import open_chat_model


def echo(messages):
    made = [tool_call(name="a", args={"n": len(messages)}, id=None), tool_call(name="b", args={}, id=None)]
    return AIMessage("", tool_calls=made)


def test_offline_needs_nothing():
    assert isinstance(open_chat_model(ChatConfig(), echo), OfflineChatModel)


def test_a_local_server_is_an_openai_model_with_its_own_address():
    config = ChatConfig(
        "openai:qwen", base_url="http://127.0.0.1:9/v1", api_key="none", max_tokens=77, timeout_s=3
    )
    model = open_chat_model(config, echo)
    assert type(model).__name__ == "ChatOpenAI"
    assert (model.model_name, model.openai_api_base) == ("qwen", "http://127.0.0.1:9/v1")
    assert (model.max_tokens, model.request_timeout) == (77, 3)


def test_a_missing_package_is_said_with_the_command_that_installs_it():
    with pytest.raises(Unavailable) as error:
        open_chat_model(ChatConfig("anthropic:claude-opus-4-8", api_key="x"), echo)
    assert "pip install 'labcrew[anthropic]'" in error.value.detail


@pytest.mark.parametrize("name", ["nobody:model", "no-such-model"])
def test_a_name_that_nobody_knows_is_refused(name):
    with pytest.raises((InvalidInput, Unavailable)) as error:
        open_chat_model(ChatConfig(name), echo)
    assert name in error.value.detail


def test_a_key_is_not_shown():
    assert "secret" not in repr(ChatConfig("openai:x", api_key="secret"))


async def test_the_offline_model_numbers_its_calls_by_their_place():
    model = OfflineChatModel(decide=echo)
    first = await model.ainvoke([HumanMessage("hi")])
    again = await model.bind_tools([]).ainvoke([HumanMessage("hi"), first])
    assert [call["id"] for call in first.tool_calls] == ["call_0_0", "call_0_1"]
    assert [call["id"] for call in again.tool_calls] == ["call_1_0", "call_1_1"]
    assert (first.id, again.id) == ("message_0", "message_1")
