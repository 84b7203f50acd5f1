"""Middleware that sends every chat-model call and every tool call of an agent through the journal.

Live and replay take the same path: what the model said is recorded first and then played back into the loop.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.exceptions import ContextOverflowError
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

from app.agents.runtime.context_trimming import brief_messages
from app.agents.runtime.conversation import fenced
from app.agents.runtime.repair import cut_short, unreadable, with_own_ids, with_unreadable_calls
from app.errors import LabError, Unavailable
from app.json_types import JsonValue
from app.llm.answer_stream import AnswerTooLong, listening
from app.llm.config import OFFLINE, provider_of
from app.llm.cost import Prices, priced
from app.llm.offline import OfflineChatModel
from app.llm.providers import NamedChatModel
from app.llm.retry_policy import AnswerCut, Patience, failure_kind, patiently
from app.llm.usage import usage_of
from app.modeling.problem.custom_code import omit_source
from app.observability.metrics.agents import CHAT_ERRORS, chat_answered
from app.sessions.events.events import Progress, Token
from app.sessions.step_scope import Call, Recorded
from app.tools.context import ToolContext
from app.tools.invoke import REFUSED, ToolAnswer, ToolRequest, invoke
from app.tools.registry import ToolSpec

ANSWERED_BY = "answered_by"
"""Where a recorded answer's metadata name the model that gave it: a fallback may have."""

MIN_CONTEXT_TOKENS = 4_000


@dataclass
class AgentRun:
    """One run of one agent: where it stands, and what its tools answered. Counted afresh on every replay."""

    ctx: ToolContext
    tools: Mapping[str, ToolSpec]
    first: int = 0
    answers: list[ToolAnswer] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    """Tool call id -> its place in the message that asked."""
    in_order: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: GraphBubbleUp | None = None
    handed_over: bool = False
    """The chat model was reminded for the last time: the offline policy ends the run."""
    before: int | None = None
    """Tool calls that were made when the policy took over: it has as many of its own."""
    overdrawn: int = 0
    """Calls that were asked for after all were used up."""

    def __post_init__(self) -> None:
        self.turn = self.first - 1

    def tell_word(self, text: str) -> None:
        step = self.ctx.step
        step.tell(Token(step=step.seq, attempt=step.attempt, agent=self.ctx.agent, text=text))

    def tell(self, text: str) -> None:
        step = self.ctx.step
        step.tell(Progress(step=step.seq, attempt=step.attempt, text=text))


@dataclass(frozen=True)
class AgentLimits:
    """An agent that is not done after `model_calls`, or after so many reminders, hands over to its offline
    policy; see `Recording`."""

    model_calls: int = 30
    tool_calls: int = 60
    reminders: int = 3


Request = ModelRequest[AgentRun]
Handler = Callable[[Request], Awaitable[ModelResponse[Any]]]


class Recording(AgentMiddleware[Any, AgentRun, Any]):
    """The journal's middleware of one agent; its runtime context is the `Turns` of the run.

    Tool calls of one message run in their order, one after the other: the journal's keys, the frames they make
    and the round they may wait for stay the same on a replay. A run over its bounds is finished by the offline
    policy, which reads the same conversation.
    """

    def __init__(
        self,
        speakers: Sequence[NamedChatModel],
        successor: BaseChatModel,
        bounds: AgentLimits,
        patience: Patience,
        prices: Prices,
    ) -> None:
        super().__init__()
        self._speakers = speakers
        self._successor = NamedChatModel(OFFLINE, successor)
        self._bounds = bounds
        self._patience = patience
        self._prices = prices

    async def awrap_model_call(self, request: Request, handler: Handler) -> ModelResponse[Any]:
        turns = request.runtime.context
        turns.turn += 1
        over = self._is_over(turns)
        speakers = (self._successor,) if over else self._speakers
        if over and turns.before is None:
            turns.before = len(turns.answers)

        async def run() -> Recorded:
            affordable = speakers[0].is_offline or await turns.ctx.step.afford("chat", turns.ctx.agent)
            asked = speakers if affordable else (self._successor,)
            clock = time.perf_counter()
            message = with_own_ids(await self._asked(asked, request, handler), turns.turn)
            by = message.response_metadata[ANSWERED_BY]
            usage = priced(self._prices, by, usage_of(message))
            chat_answered(provider_of(by), turns.ctx.agent, time.perf_counter() - clock, usage)
            return Recorded(value=dumped(message), summary=message.text[:200], usage=usage, by=by)

        call = Call(f"chat:{turns.turn}", "chat", speakers[0].name, turns.ctx.agent, _digestible(request))
        try:
            message = loaded(await turns.ctx.step.call(call, run))
        except GraphBubbleUp as waiting:
            turns.waiting = waiting
            raise
        turns.places = {str(c["id"]): i for i, c in enumerate(message.tool_calls)}
        if text := message.text.strip():
            turns.ctx.step.say(turns.ctx.agent, text)
        return await handler(request.override(model=OfflineChatModel(decide=lambda _: message)))

    def _is_over(self, turns: AgentRun) -> bool:
        """Has the chat model had its share of answers, reminders, or calls beyond its calls?"""
        spoken = turns.turn - turns.first
        return (
            turns.handed_over or spoken >= self._bounds.model_calls or turns.overdrawn > self._bounds.tool_calls
        )

    async def _asked(self, speakers: Sequence[NamedChatModel], request: Request, handler: Handler) -> AIMessage:
        """The answer of the first speaker that gives one; raises Unavailable with what each of them said."""
        failed: list[str] = []
        for speaker in speakers:
            try:
                message = await self._answer_of(speaker, request, handler)
            except (GraphBubbleUp, LabError):
                raise
            except Exception as error:  # noqa: BLE001 - a provider may fail with anything
                CHAT_ERRORS.labels(provider_of(speaker.name), failure_kind(error)).inc()
                failed.append(f"{speaker.name}: {speaker.safe(error)}")
                last = error
            else:
                heard_from = {**message.response_metadata, ANSWERED_BY: speaker.name}
                return message.model_copy(update={"response_metadata": heard_from})
        raise Unavailable("chat_model_failed", f"No chat model answered. {'; '.join(failed)}") from last

    async def _answer_of(self, speaker: NamedChatModel, request: Request, handler: Handler) -> AIMessage:
        """What one speaker says, asked as often as patience allows."""
        if speaker.is_offline:
            return _spoken(await handler(request.override(model=speaker.model)))
        turns = request.runtime.context
        room = speaker.context_tokens

        async def ask() -> AIMessage:
            messages = brief_messages(request.messages, room)
            with listening(turns.tell_word, speaker.longest) as heard:
                try:
                    message = _spoken(await handler(request.override(model=speaker.model, messages=messages)))
                except AnswerTooLong as error:
                    return cut_short(str(error), heard.length)
            if heard.streamed and not heard.ended:
                raise AnswerCut("The connection ended in the middle of an answer.")
            return with_unreadable_calls(message, heard.arguments)

        def waiting(error: BaseException, seconds: float) -> None:
            CHAT_ERRORS.labels(provider_of(speaker.name), failure_kind(error)).inc()
            said = speaker.safe(error)
            turns.tell(f"{speaker.name} did not answer ({said}). Asking again in {seconds:.0f} s.")

        while True:
            try:
                return await patiently(ask, self._patience, waiting)
            except ContextOverflowError:
                if room < MIN_CONTEXT_TOKENS:
                    raise
                room //= 2

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> ToolMessage:
        turns = cast(AgentRun, request.runtime.context)
        call = request.tool_call
        key = f"tool:{turns.turn}.{turns.places.get(str(call['id']), 0)}"
        async with turns.in_order:
            value = await self._answer(turns, ToolRequest(key, call["name"], call["args"]))
        return ToolMessage(
            fenced(omit_source(value)),
            id=key,
            name=call["name"],
            tool_call_id=str(call["id"]),
            status="error" if isinstance(value, dict) and list(value) == [REFUSED] else "success",
        )

    async def _answer(self, turns: AgentRun, request: ToolRequest) -> JsonValue:
        if turns.waiting:
            raise turns.waiting
        if reason := unreadable(request.arguments):
            return {REFUSED: f"{reason} Call {request.name} again, with all of them."}
        if len(turns.answers) - (turns.before or 0) >= self._bounds.tool_calls:
            turns.overdrawn += 1
            return {REFUSED: "You have used up your tool calls. Finish with what you know."}
        try:
            answer = await invoke(turns.tools, turns.ctx, request)
        except GraphBubbleUp as waiting:
            turns.waiting = waiting
            raise
        turns.answers.append(answer)
        return answer.value


def _spoken(response: ModelResponse[Any]) -> AIMessage:
    return next(message for message in response.result if isinstance(message, AIMessage))


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


def _digestible(request: ModelRequest[AgentRun]) -> JsonValue:
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
