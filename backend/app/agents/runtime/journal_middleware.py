"""Middleware that sends every chat-model call and every tool call of an agent through the journal.

Live runs and replays take the same path: an answer is recorded first and then played back into the loop.

LangChain's middleware for retries, fallbacks and limits would do otherwise than is tested here: its retries
know no `Retry-After` and tell nobody, its fallback raises the last error alone and does not say who answered,
and its limits end a run with a message where the offline policy completes the work.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import structlog
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
from langchain_core.tools import BaseTool
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
from app.agents.runtime.written_words import WrittenWords
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
from app.tools.context.tool_context import ToolContext
from app.tools.invoke import ToolAnswer, ToolRequest, invoke
from app.tools.registry import ToolSpec
from app.tools.tool_errors import get_refusal, make_error

log = structlog.get_logger(__name__)

ANSWERED_BY = "answered_by"
"""Metadata key of a recorded answer: the name of the model that gave it, which may be a fallback."""
THOUGHT_S = "thought_s"
"""Metadata key of a recorded answer: the seconds until it was complete, retries included."""

MIN_CONTEXT_TOKENS = 4_000
"""After a context overflow the window is halved down to this; a prompt with its tools needs about as much."""

CHAT_MODEL_FAILED = "chat_model_failed"
"""Code of the failure of a call that no chat model has answered."""


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
    offered_tools: frozenset[str] = frozenset()
    """Names of the tools whose schemas a chat model is sent."""
    reason: str = ""
    """The agent's words along with the calls of its last message."""
    is_by_rules: bool = False
    """True for a run that the offline policy does from its start."""
    streamed_answers: int = 0
    """Number of answers whose words were published, those that broke off included."""
    thought_s: float = 0.0
    """Seconds of chat models for the recorded answers of this run, so that a replay counts them alike."""

    def __post_init__(self) -> None:
        self.turn = self.first_turn - 1

    @property
    def is_out_of_time(self) -> bool:
        """True if further thinking would take the time of fits.

        That is so between split and report, once the allowance is used up. A deterministic session decides
        nothing by the clock.
        """
        ctx = self.ctx
        shares_time = ctx.training_context is not None and ctx.agent != "reporter"
        return shares_time and ctx.thinking.is_used_up and not ctx.preferences.deterministic

    def begin_answer(self) -> WrittenWords:
        """Return what publishes the words of the next answer as they come."""
        self.streamed_answers += 1
        return WrittenWords(partial(self._publish_words, self.streamed_answers))

    def _publish_words(self, answer: int, start: int, text: str) -> None:
        step, agent = self.ctx.step, self.ctx.agent
        step.emit(
            TokenStreamed(
                step=step.seq, attempt=step.attempt, agent=agent, answer=answer, start=start, text=text
            )
        )

    def publish_progress(self, text: str) -> None:
        step = self.ctx.step
        step.emit(Progress(step=step.seq, attempt=step.attempt, text=text))


@dataclass(frozen=True)
class AgentLimits:
    """Limits of one run. Beyond them the offline policy finishes the run; see `JournalMiddleware`."""

    model_calls: int = 30
    tool_calls: int = 60
    reminders: int = 3
    thought_s: float = 600.0
    """Seconds that chat models may take for all answers of a run together; the settings override it."""


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
            if not self._chat_models[0].is_offline and (note := self._describe_spent_time(agent_run)):
                agent_run.publish_progress(note)

        async def ask() -> CallResult:
            # Decided where the answer is made: a replay plays the answer back, whatever the budget is by then.
            affordable = chat_models[0].is_offline or await agent_run.ctx.step.can_afford(
                "chat", agent_run.ctx.agent
            )
            candidates = chat_models if affordable else (self._offline_model,)
            start = time.perf_counter()
            message = assign_call_ids(await self._first_answer(candidates, request, handler), agent_run.turn)
            model_name = message.response_metadata[ANSWERED_BY]
            usage = add_cost(self._prices, model_name, read_usage(message))
            thought_s = time.perf_counter() - start
            count_chat_answer(provider_of(model_name), agent_run.ctx.agent, thought_s, usage)
            log.info(
                "chat_answered",
                agent=agent_run.ctx.agent,
                model=model_name,
                call=f"chat:{agent_run.turn}",
                tool_calls=len(message.tool_calls),
                seconds=round(thought_s, 3),
            )
            if model_name != OFFLINE:  # its policy computes, and takes no time to speak of
                metadata = {**message.response_metadata, THOUGHT_S: round(thought_s, 3)}
                message = message.model_copy(update={"response_metadata": metadata})
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
        thought_s = float(message.response_metadata.get(THOUGHT_S, 0.0))
        agent_run.ctx.thinking.present_s += thought_s
        agent_run.thought_s += thought_s
        agent_run.call_positions = {str(c["id"]): i for i, c in enumerate(message.tool_calls)}
        agent_run.reason = message.text.strip()
        if text := message.text.strip():
            agent_run.ctx.step.post_message(agent_run.ctx.agent, text)
        return await handler(request.override(model=OfflineChatModel(decide=lambda _: message)))

    def _exceeds_limits(self, agent_run: AgentRun) -> bool:
        """Tell if the chat model has used up its answers, its reminders, its tool calls or its time."""
        turns = agent_run.turn - agent_run.first_turn
        return (
            agent_run.is_handed_over
            or agent_run.is_by_rules
            or agent_run.is_out_of_time
            or agent_run.thought_s >= self._limits.thought_s
            or turns >= self._limits.model_calls
            or agent_run.excess_calls > self._limits.tool_calls
        )

    def _describe_spent_time(self, agent_run: AgentRun) -> str:
        """Say which limit of time a run has reached; empty for none."""
        if agent_run.is_out_of_time:
            thought_s = agent_run.ctx.thinking.total_s
            return (
                f"Chat models have thought for {thought_s:.0f} s, which is all that the time budget allows "
                "them: rules decide from here on, and the rest of the time is for fits."
            )
        if agent_run.thought_s >= self._limits.thought_s:
            agent = agent_run.ctx.agent.replace("_", " ")
            return f"The {agent} has thought for {agent_run.thought_s:.0f} s: rules finish its turn."
        return ""

    async def _first_answer(
        self, chat_models: Sequence[NamedChatModel], request: Request, handler: Handler
    ) -> AIMessage:
        """Return the answer of the first chat model that gives one. Raises Unavailable with all errors."""
        failures: list[str] = []
        for chat_model in chat_models:
            try:
                message = await self._ask_model(chat_model, request, handler)
            # Pauses and errors of our own are no fault of a provider, so the next model is not asked.
            except (GraphBubbleUp, LabError):
                raise
            except Exception as error:  # noqa: BLE001 - a provider may fail with anything
                CHAT_ERRORS.labels(provider_of(chat_model.name), failure_kind(error)).inc()
                failures.append(f"{chat_model.name}: {chat_model.describe_error(error)}")
                last = error  # Python unbinds `error` at the end of the clause
            else:
                metadata = {**message.response_metadata, ANSWERED_BY: chat_model.name}
                return message.model_copy(update={"response_metadata": metadata})
        raise Unavailable(CHAT_MODEL_FAILED, f"No chat model answered. {'; '.join(failures)}") from last

    async def _ask_model(self, chat_model: NamedChatModel, request: Request, handler: Handler) -> AIMessage:
        """Ask one chat model, with retries. After a context overflow the conversation is trimmed further."""
        if chat_model.is_offline:
            return _ai_message(await handler(request.override(model=chat_model.model)))
        agent_run = request.runtime.context
        context_tokens = chat_model.context_tokens
        tools = [tool for tool in request.tools if _tool_name(tool) in agent_run.offered_tools]

        async def ask() -> AIMessage:
            messages = trim_messages(request.messages, context_tokens)
            with record_stream(agent_run.begin_answer().add, chat_model.max_characters) as stream:
                try:
                    offered = request.override(model=chat_model.model, messages=messages, tools=tools)
                    message = _ai_message(await handler(offered))
                except AnswerTooLong as error:
                    return make_truncated_answer(str(error), stream.length)
            # LangChain would take the words so far for the whole answer.
            if stream.is_streamed and not stream.is_complete:
                raise AnswerInterrupted("The connection closed before the answer was complete.")
            return restore_invalid_calls(message, stream.arguments)

        def announce_retry(error: BaseException, seconds: float) -> None:
            CHAT_ERRORS.labels(provider_of(chat_model.name), failure_kind(error)).inc()
            reason = chat_model.describe_error(error)
            agent_run.publish_progress(
                f"{chat_model.name} did not answer ({reason}). Retrying in {seconds:.0f} s."
            )

        left_s = max(self._limits.thought_s - agent_run.thought_s, 0.0)
        policy = replace(self._retry_policy, max_answer_s=min(self._retry_policy.max_answer_s, left_s))
        while True:
            try:
                return await call_with_retries(ask, policy, announce_retry)
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
            name = call["name"]
            attempt = 1 + sum(a.refusal is not None for a in agent_run.answers if a.request.name == name)
            value = await self._run_tool(agent_run, ToolRequest(key, name, call["args"], attempt))
        return ToolMessage(
            to_data_block(omit_source(value)),
            id=key,
            name=call["name"],
            tool_call_id=str(call["id"]),
            status="success" if get_refusal(value) is None else "error",
        )

    async def _run_tool(self, agent_run: AgentRun, request: ToolRequest) -> JsonValue:
        # A later call of the message must not overtake one that waits for the user.
        if agent_run.interrupt:
            raise agent_run.interrupt
        if reason := arguments_error(request.arguments):
            message = f"{reason} Call {request.name} again with complete arguments."
            return make_error("invalid_arguments", message, request.attempt)
        if len(agent_run.answers) - (agent_run.answers_before_handover or 0) >= self._limits.tool_calls:
            agent_run.excess_calls += 1
            message = "You have used all your tool calls. Finish with the facts you have."
            return make_error("budget", message, request.attempt)
        try:
            ctx = replace(agent_run.ctx, reason=agent_run.reason)
            answer = await invoke(agent_run.tools, ctx, request)
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
        "tools": [_tool_name(tool) for tool in request.tools],
        "before": len(request.messages),
        "new": [_message_json(message) for message in _messages_since_answer(request.messages)],
    }


def _tool_name(tool: BaseTool | dict[str, Any]) -> str:
    return str(tool["name"]) if isinstance(tool, dict) else tool.name


def _messages_since_answer(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    answer_positions = [i for i, message in enumerate(messages) if isinstance(message, AIMessage)]
    return messages[answer_positions[-1] + 1 :] if answer_positions else messages


def _message_json(message: BaseMessage) -> JsonValue:
    return {"type": message.type, "text": message.text}
