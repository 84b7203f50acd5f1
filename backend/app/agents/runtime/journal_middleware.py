"""Middleware that sends every chat-model call and every tool call of an agent through the journal.

Live runs and replays take the same path: an answer is recorded first and then played back into the loop.
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

from app.agents.runtime.context_trimming import trim_messages
from app.agents.runtime.conversation import to_data_block
from app.agents.runtime.tool_call_repair import (
    arguments_error,
    assign_call_ids,
    make_truncated_answer,
    restore_invalid_calls,
)
from app.errors import LabError, Unavailable
from app.json_types import JsonValue
from app.llm.answer_stream import AnswerTooLong, record_stream
from app.llm.config import OFFLINE, provider_of
from app.llm.cost import Prices, add_cost
from app.llm.offline_chat_model import OfflineChatModel
from app.llm.providers import NamedChatModel
from app.llm.retry_policy import AnswerInterrupted, RetryPolicy, call_with_retries, failure_kind
from app.llm.usage import read_usage
from app.modeling.facts.code_in_facts import omit_source
from app.observability.metrics.agents import CHAT_ERRORS, count_chat_answer
from app.sessions.events.events import Progress, TokenStreamed
from app.sessions.step_scope import Call, CallResult
from app.tools.context import ToolContext
from app.tools.invoke import REFUSED, ToolAnswer, ToolRequest, invoke
from app.tools.registry import ToolSpec

ANSWERED_BY = "answered_by"
"""Metadata key of a recorded answer: the name of the model that gave it, which may be a fallback."""

MIN_CONTEXT_TOKENS = 4_000
"""After a context overflow the window is halved down to this; a prompt with its tools needs about as much."""


@dataclass
class AgentRun:
    """Progress of one run of an agent and the answers of its tools. Every replay starts a new one."""

    ctx: ToolContext
    tools: Mapping[str, ToolSpec]
    first_turn: int = 0
    answers: list[ToolAnswer] = field(default_factory=list)
    call_positions: dict[str, int] = field(default_factory=dict)
    """Position of each tool call in its message, by id."""
    tool_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    interrupt: GraphBubbleUp | None = None
    is_handed_over: bool = False
    """True after the last reminder: the offline policy finishes the run."""
    answers_before_handover: int | None = None
    """Number of tool calls at the handover to the offline policy, which has its own allowance."""
    excess_calls: int = 0
    """Number of tool calls requested beyond the limit."""

    def __post_init__(self) -> None:
        self.turn = self.first_turn - 1

    def publish_token(self, text: str) -> None:
        step = self.ctx.step
        step.emit(TokenStreamed(step=step.seq, attempt=step.attempt, agent=self.ctx.agent, text=text))

    def publish_progress(self, text: str) -> None:
        step = self.ctx.step
        step.emit(Progress(step=step.seq, attempt=step.attempt, text=text))


@dataclass(frozen=True)
class AgentLimits:
    """Limits of one run. Beyond them the offline policy finishes the run; see `JournalMiddleware`."""

    model_calls: int = 30
    tool_calls: int = 60
    reminders: int = 3


Request = ModelRequest[AgentRun]
Handler = Callable[[Request], Awaitable[ModelResponse[Any]]]


class JournalMiddleware(AgentMiddleware[Any, AgentRun, Any]):
    """The journal's middleware of one agent. Its runtime context is the `AgentRun`.

    Tool calls of one message run one after the other, in their order, so that the journal's keys, the frames
    and the rounds of fits are the same on a replay. A run beyond its limits is finished by the offline policy,
    which reads the same conversation.
    """

    def __init__(
        self,
        chat_models: Sequence[NamedChatModel],
        offline_model: BaseChatModel,
        limits: AgentLimits,
        retry_policy: RetryPolicy,
        prices: Prices,
    ) -> None:
        super().__init__()
        self._chat_models = chat_models
        self._offline_model = NamedChatModel(OFFLINE, offline_model)
        self._limits = limits
        self._retry_policy = retry_policy
        self._prices = prices

    async def awrap_model_call(self, request: Request, handler: Handler) -> ModelResponse[Any]:
        agent_run = request.runtime.context
        agent_run.turn += 1
        is_over = self._exceeds_limits(agent_run)
        chat_models = (self._offline_model,) if is_over else self._chat_models
        if is_over and agent_run.answers_before_handover is None:
            agent_run.answers_before_handover = len(agent_run.answers)

        async def ask() -> CallResult:
            affordable = chat_models[0].is_offline or await agent_run.ctx.step.can_afford(
                "chat", agent_run.ctx.agent
            )
            candidates = chat_models if affordable else (self._offline_model,)
            start = time.perf_counter()
            message = assign_call_ids(await self._first_answer(candidates, request, handler), agent_run.turn)
            model_name = message.response_metadata[ANSWERED_BY]
            usage = add_cost(self._prices, model_name, read_usage(message))
            count_chat_answer(provider_of(model_name), agent_run.ctx.agent, time.perf_counter() - start, usage)
            return CallResult(
                value=dump_message(message), summary=message.text[:200], usage=usage, answered_by=model_name
            )

        call = Call(
            f"chat:{agent_run.turn}", "chat", chat_models[0].name, agent_run.ctx.agent, _chat_request(request)
        )
        try:
            message = load_message(await agent_run.ctx.step.call(call, ask))
        except GraphBubbleUp as interrupt:
            agent_run.interrupt = interrupt
            raise
        agent_run.call_positions = {str(c["id"]): i for i, c in enumerate(message.tool_calls)}
        if text := message.text.strip():
            agent_run.ctx.step.post_message(agent_run.ctx.agent, text)
        return await handler(request.override(model=OfflineChatModel(decide=lambda _: message)))

    def _exceeds_limits(self, agent_run: AgentRun) -> bool:
        """Tell if the chat model has used up its answers, its reminders or its tool calls."""
        turns = agent_run.turn - agent_run.first_turn
        return (
            agent_run.is_handed_over
            or turns >= self._limits.model_calls
            or agent_run.excess_calls > self._limits.tool_calls
        )

    async def _first_answer(
        self, chat_models: Sequence[NamedChatModel], request: Request, handler: Handler
    ) -> AIMessage:
        """Return the answer of the first chat model that gives one. Raises Unavailable with all errors."""
        failures: list[str] = []
        for chat_model in chat_models:
            try:
                message = await self._ask_model(chat_model, request, handler)
            except (GraphBubbleUp, LabError):
                raise
            except Exception as error:  # noqa: BLE001 - a provider may fail with anything
                CHAT_ERRORS.labels(provider_of(chat_model.name), failure_kind(error)).inc()
                failures.append(f"{chat_model.name}: {chat_model.describe_error(error)}")
                last = error
            else:
                metadata = {**message.response_metadata, ANSWERED_BY: chat_model.name}
                return message.model_copy(update={"response_metadata": metadata})
        raise Unavailable("chat_model_failed", f"No chat model answered. {'; '.join(failures)}") from last

    async def _ask_model(self, chat_model: NamedChatModel, request: Request, handler: Handler) -> AIMessage:
        """Ask one chat model, with retries. After a context overflow the conversation is trimmed further."""
        if chat_model.is_offline:
            return _ai_message(await handler(request.override(model=chat_model.model)))
        agent_run = request.runtime.context
        context_tokens = chat_model.context_tokens

        async def ask() -> AIMessage:
            messages = trim_messages(request.messages, context_tokens)
            with record_stream(agent_run.publish_token, chat_model.max_characters) as stream:
                try:
                    message = _ai_message(
                        await handler(request.override(model=chat_model.model, messages=messages))
                    )
                except AnswerTooLong as error:
                    return make_truncated_answer(str(error), stream.length)
            if stream.is_streamed and not stream.is_complete:
                raise AnswerInterrupted("The connection closed before the answer was complete.")
            return restore_invalid_calls(message, stream.arguments)

        def announce_retry(error: BaseException, seconds: float) -> None:
            CHAT_ERRORS.labels(provider_of(chat_model.name), failure_kind(error)).inc()
            reason = chat_model.describe_error(error)
            agent_run.publish_progress(
                f"{chat_model.name} did not answer ({reason}). Retrying in {seconds:.0f} s."
            )

        while True:
            try:
                return await call_with_retries(ask, self._retry_policy, announce_retry)
            except ContextOverflowError:
                if context_tokens < MIN_CONTEXT_TOKENS:
                    raise
                context_tokens //= 2

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> ToolMessage:
        agent_run = cast(AgentRun, request.runtime.context)
        call = request.tool_call
        key = f"tool:{agent_run.turn}.{agent_run.call_positions.get(str(call['id']), 0)}"
        async with agent_run.tool_lock:
            value = await self._run_tool(agent_run, ToolRequest(key, call["name"], call["args"]))
        return ToolMessage(
            to_data_block(omit_source(value)),
            id=key,
            name=call["name"],
            tool_call_id=str(call["id"]),
            status="error" if isinstance(value, dict) and list(value) == [REFUSED] else "success",
        )

    async def _run_tool(self, agent_run: AgentRun, request: ToolRequest) -> JsonValue:
        if agent_run.interrupt:
            raise agent_run.interrupt
        if reason := arguments_error(request.arguments):
            return {REFUSED: f"{reason} Call {request.name} again with complete arguments."}
        if len(agent_run.answers) - (agent_run.answers_before_handover or 0) >= self._limits.tool_calls:
            agent_run.excess_calls += 1
            return {REFUSED: "You have used all your tool calls. Finish with the facts you have."}
        try:
            answer = await invoke(agent_run.tools, agent_run.ctx, request)
        except GraphBubbleUp as interrupt:
            agent_run.interrupt = interrupt
            raise
        agent_run.answers.append(answer)
        return answer.value


def _ai_message(response: ModelResponse[Any]) -> AIMessage:
    return next(message for message in response.result if isinstance(message, AIMessage))


def dump_message(message: AIMessage) -> JsonValue:
    """Convert a message to JSON for the journal."""
    message_json: JsonValue = messages_to_dict([message])[0]
    return message_json


def load_message(value: JsonValue) -> AIMessage:
    """Restore a message from the JSON of `dump_message`."""
    [message] = messages_from_dict([value])  # type: ignore[list-item]  # checked by the next line
    if not isinstance(message, AIMessage):
        raise TypeError(f"The journal holds a {message.type} message instead of a chat model's answer.")
    return message


def _chat_request(request: ModelRequest[AgentRun]) -> JsonValue:
    """Make the journal's request of a chat call.

    It holds only the messages since the model's last answer: with the whole conversation in every call a
    journal would grow with the square of its length.
    """
    prompt = request.system_message.text if request.system_message else ""
    return {
        "prompt": hashlib.sha256(prompt.encode()).hexdigest()[:16],
        "tools": [tool["name"] if isinstance(tool, dict) else tool.name for tool in request.tools],
        "before": len(request.messages),
        "new": [_message_json(message) for message in _messages_since_answer(request.messages)],
    }


def _messages_since_answer(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    answer_positions = [i for i, message in enumerate(messages) if isinstance(message, AIMessage)]
    return messages[answer_positions[-1] + 1 :] if answer_positions else messages


def _message_json(message: BaseMessage) -> JsonValue:
    return {"type": message.type, "text": message.text}
