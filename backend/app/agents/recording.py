"""Middleware that sends every chat-model call and every tool call of an agent through the journal.

Live and replay take the same path: what the model said is recorded first and then played back into the loop.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    ToolMessage,
    messages_from_dict,
    messages_to_dict,
)
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolCallRequest

from app.agents.brevity import brief_messages
from app.agents.conversation import fenced
from app.computations.bench import JsonValue
from app.errors import Unavailable
from app.llm.config import OFFLINE
from app.llm.offline import OfflineChatModel
from app.llm.usage import usage_of
from app.llm.words import listening
from app.sessions.events import Token
from app.sessions.scope import Call, Recorded
from app.tools.context import ToolContext
from app.tools.invoke import REFUSED, ToolAnswer, ToolRequest, invoke
from app.tools.registry import ToolSpec


@dataclass
class Turns:
    """One run of one agent: where it stands, and what its tools answered. Counted afresh on every replay."""

    ctx: ToolContext
    tools: Mapping[str, ToolSpec]
    first: int = 0
    answers: list[ToolAnswer] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    """Tool call id -> its place in the message that asked."""
    in_order: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: GraphBubbleUp | None = None

    def __post_init__(self) -> None:
        self.turn = self.first - 1

    def tell_word(self, text: str) -> None:
        step = self.ctx.step
        step.tell(Token(step=step.seq, attempt=step.attempt, agent=self.ctx.agent, text=text))


@dataclass(frozen=True)
class Bounds:
    """An agent that is not done after `model_calls` hands over to its offline policy; see `Recording`."""

    model_calls: int = 30
    tool_calls: int = 60
    reminders: int = 3


class Recording(AgentMiddleware[Any, Turns, Any]):
    """The journal's middleware of one agent; its runtime context is the `Turns` of the run.

    Tool calls of one message run in their order, one after the other: the journal's keys, the frames they make
    and the round they may wait for stay the same on a replay. A run over its bounds is finished by the offline
    policy, which reads the same conversation.
    """

    def __init__(self, model_name: str, successor: BaseChatModel, bounds: Bounds) -> None:
        super().__init__()
        self._model_name = model_name
        self._successor = successor
        self._bounds = bounds

    async def awrap_model_call(
        self,
        request: ModelRequest[Turns],
        handler: Callable[[ModelRequest[Turns]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        turns = request.runtime.context
        turns.turn += 1
        over = turns.turn - turns.first >= self._bounds.model_calls
        model_name = OFFLINE if over else self._model_name

        async def run() -> Recorded:
            if over:
                response = await handler(request.override(model=self._successor))
            elif model_name == OFFLINE:
                response = await handler(request)
            else:
                with listening(turns.tell_word):
                    response = await _provided(model_name, request, handler)
            message = with_own_ids(next(m for m in response.result if isinstance(m, AIMessage)), turns.turn)
            return Recorded(value=dumped(message), summary=message.text[:200], usage=usage_of(message))

        call = Call(f"chat:{turns.turn}", "chat", model_name, turns.ctx.agent, _digestible(request))
        message = loaded(await turns.ctx.step.call(call, run))
        turns.places = {str(c["id"]): i for i, c in enumerate(message.tool_calls)}
        if text := message.text.strip():
            turns.ctx.step.say(turns.ctx.agent, text)
        return await handler(request.override(model=OfflineChatModel(decide=lambda _: message)))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> ToolMessage:
        turns = cast(Turns, request.runtime.context)
        call = request.tool_call
        key = f"tool:{turns.turn}.{turns.places.get(str(call['id']), 0)}"
        async with turns.in_order:
            value = await self._answer(turns, ToolRequest(key, call["name"], call["args"]))
        return ToolMessage(
            fenced(value),
            id=key,
            name=call["name"],
            tool_call_id=str(call["id"]),
            status="error" if isinstance(value, dict) and list(value) == [REFUSED] else "success",
        )

    async def _answer(self, turns: Turns, request: ToolRequest) -> JsonValue:
        if turns.waiting:
            raise turns.waiting
        if len(turns.answers) >= self._bounds.tool_calls:
            return {REFUSED: "You have used up your tool calls. Finish with what you know."}
        try:
            answer = await invoke(turns.tools, turns.ctx, request)
        except GraphBubbleUp as waiting:
            turns.waiting = waiting
            raise
        turns.answers.append(answer)
        return answer.value


async def _provided(
    model_name: str,
    request: ModelRequest[Turns],
    handler: Callable[[ModelRequest[Turns]], Awaitable[ModelResponse[Any]]],
) -> ModelResponse[Any]:
    """A provider's answer. Whatever it fails with (it has tried again by itself) ends the session readably."""
    try:
        return await handler(request.override(messages=brief_messages(request.messages)))
    except GraphBubbleUp:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"[:300]
        raise Unavailable("chat_model_failed", f"The chat model {model_name} failed. {said}") from error


def with_own_ids(message: AIMessage, turn: int) -> AIMessage:
    """Calls without an id, or with one that another call has too, get one by their place."""
    ids = [call["id"] for call in message.tool_calls]
    if all(ids) and len(set(ids)) == len(ids):
        return message
    calls = [{**call, "id": f"call_{turn}_{i}"} for i, call in enumerate(message.tool_calls)]
    return message.model_copy(update={"tool_calls": calls})


def dumped(message: AIMessage) -> JsonValue:
    """A message as JSON for the journal."""
    kept: JsonValue = messages_to_dict([message])[0]
    return kept


def loaded(value: JsonValue) -> AIMessage:
    """The message that `dumped` was given."""
    [message] = messages_from_dict([value])  # type: ignore[list-item]  # checked by the next line
    if not isinstance(message, AIMessage):
        raise TypeError(f"The journal holds a {message.type} message where a chat model spoke.")
    return message


def _digestible(request: ModelRequest[Turns]) -> JsonValue:
    """What a chat call depends on: only what is new since the model last spoke, or journals grow as squares."""
    prompt = request.system_message.text if request.system_message else ""
    return {
        "prompt": hashlib.sha256(prompt.encode()).hexdigest()[:16],
        "tools": [tool["name"] if isinstance(tool, dict) else tool.name for tool in request.tools],
        "before": len(request.messages),
        "new": [_said(message) for message in _since_last_answer(request.messages)],
    }


def _since_last_answer(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    spoken = [i for i, message in enumerate(messages) if isinstance(message, AIMessage)]
    return messages[spoken[-1] + 1 :] if spoken else messages


def _said(message: BaseMessage) -> JsonValue:
    return {"type": message.type, "text": message.text}
