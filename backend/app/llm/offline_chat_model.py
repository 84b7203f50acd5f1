"""Chat model without a provider: a pure function from messages to the next one."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable

Decide = Callable[[Sequence[BaseMessage]], AIMessage]


class OfflineChatModel(BaseChatModel):
    """Chat model of a function: `decide` maps a conversation to the next message. It is deterministic."""

    decide: Decide

    @property
    def _llm_type(self) -> str:
        return "offline"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return this model: a policy takes its tools from the conversation."""
        # LangChain's own method raises NotImplementedError.
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = self.decide(messages)
        return ChatResult(generations=[ChatGeneration(message=_assign_ids(message, messages))])


class ChatModelUnusable(Exception):
    """A chat model that is asked though it could not be opened."""


def make_unusable_model(reason: str) -> OfflineChatModel:
    """Make the stand-in for a chat model that could not be opened. It raises ChatModelUnusable."""

    def refuse(messages: Sequence[BaseMessage]) -> AIMessage:
        raise ChatModelUnusable(reason)

    return OfflineChatModel(decide=refuse)


def _assign_ids(message: AIMessage, messages: Sequence[BaseMessage]) -> AIMessage:
    """Give the message and its calls ids of their position in the conversation, which a replay repeats."""
    turn = sum(isinstance(earlier, AIMessage) for earlier in messages)
    calls = [
        tool_call(name=call["name"], args=call["args"], id=call["id"] or f"call_{turn}_{i}")
        for i, call in enumerate(message.tool_calls)
    ]
    return message.model_copy(update={"id": message.id or f"message_{turn}", "tool_calls": calls})
