"""An agent: `create_agent` with a prompt, its tools, a typed output and the journal's middleware."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.errors import GraphBubbleUp
from pydantic import BaseModel

from app.agents.runtime.conversation import make_brief_message
from app.agents.runtime.journal_middleware import AgentLimits, AgentRun, JournalMiddleware
from app.errors import LabError
from app.json_types import JsonValue
from app.llm.cost import Prices
from app.llm.offline_chat_model import Decide, OfflineChatModel
from app.llm.prompt_schema import PromptSchema
from app.llm.providers import NamedChatModel
from app.llm.retry_policy import RetryPolicy
from app.observability.tracing import span
from app.tools.context.tool_context import ToolContext
from app.tools.invoke import ToolAnswer
from app.tools.registry import ToolSpec

Output = TypeVar("Output", bound=BaseModel)

Check = Callable[[Output, Sequence[ToolAnswer]], str | None]
"""Returns None for a valid output, else a message that tells the agent what to correct."""

_ANSWER_IN_WORDS = "Answer the user in words now, without calling a tool."
_REMINDER = "Your turn ends only by calling {name}. Correct what was refused, or call {name} now."


class AgentDidNotFinish(LabError):
    """The agent ended without its output, and so did its offline policy."""


@dataclass(frozen=True)
class AgentRole(Generic[Output]):
    """The name, system prompt, output type and offline policy of an agent.

    `tools`: those that a chat model is offered in this part of the agent's work; policies may call others.
    `ends_with_words`: its first message without tool calls ends its run; the output has its `text`.
    """

    name: str
    prompt: str
    output: type[Output]
    decide: Decide
    tools: tuple[str, ...] = ()
    ends_with_words: bool = False

    @property
    def reminder(self) -> str:
        return _ANSWER_IN_WORDS if self.ends_with_words else _REMINDER.format(name=self.output.__name__)

    def read_output(self, state: Mapping[str, Any]) -> Output | None:
        """Return the output of a run from the last state of its loop; None if it has none."""
        if not self.ends_with_words:
            output = state.get("structured_response")
            return output if isinstance(output, self.output) else None
        last = state["messages"][-1]
        is_answer = isinstance(last, AIMessage) and not last.tool_calls and last.text.strip()
        return self.output.model_validate({"text": last.text.strip()}) if is_answer else None


@dataclass(frozen=True)
class AgentResult(Generic[Output]):
    """The output of an agent, with its choices and reasons, and its tool answers, with the facts."""

    output: Output
    answers: tuple[ToolAnswer, ...]
    next_turn: int = 0
    """The number of the next turn of the step, for a further run of the agent."""

    def values(self, *names: str) -> list[Any]:
        """Return the values of these tools' successful calls, oldest first."""
        return [a.value for a in self.answers if a.request.name in names and a.refusal is None]


@dataclass(frozen=True)
class AgentRunOptions:
    """Options of one run of an agent.

    `known_answers`: facts of the brief, as the calls that would return them. `withheld_tools`: tools that
    could only refuse. `is_by_rules`: the offline policy does it, where a chat model has nothing to decide.
    """

    known_answers: Sequence[ToolAnswer] = ()
    withheld_tools: Sequence[str] = ()
    is_by_rules: bool = False


class Agent(Generic[Output]):
    """A role on its chat models. Built once per process; runs leave no state behind."""

    def __init__(
        self,
        role: AgentRole[Output],
        chat_models: Sequence[NamedChatModel],
        tools: Mapping[str, ToolSpec],
        limits: AgentLimits | None = None,
        retry_policy: RetryPolicy | None = None,
        caching: Sequence[AgentMiddleware[Any, Any, Any]] = (),
        prices: Prices | None = None,
    ) -> None:
        self.role = role
        self.tools = tools
        self._limits = limits or AgentLimits()
        self.is_offline = all(chat_model.is_offline for chat_model in chat_models)
        offline_model = OfflineChatModel(decide=role.decide)
        self._graph = create_agent(
            chat_models[0].model,
            [_make_tool_stub(spec) for spec in tools.values()],
            system_prompt=role.prompt,
            middleware=[
                JournalMiddleware(
                    chat_models, offline_model, self._limits, retry_policy or RetryPolicy(), prices or {}
                ),
                *caching,
            ],
            response_format=None if role.ends_with_words else ToolStrategy(role.output),
            checkpointer=False,
            name=role.name,
        )

    async def run(
        self,
        ctx: ToolContext,
        brief: Mapping[str, JsonValue],
        check: Check[Output] | None = None,
        first_turn: int = 0,
        options: AgentRunOptions = AgentRunOptions(),
    ) -> AgentResult[Output]:
        """Run the agent until it returns an output that passes `check`.

        `first_turn`: the number of the first turn, for a repeated run in the same step. Interrupts are passed
        on to the calling graph. Raises AgentDidNotFinish.
        """
        with span("invoke_agent", self.role.name, ctx.session.id, {}, pause=GraphBubbleUp):
            agent_run = AgentRun(ctx, self.tools, first_turn)
            agent_run.offered_tools = frozenset(self.role.tools or self.tools) - {*options.withheld_tools}
            agent_run.answers.extend(options.known_answers)
            agent_run.is_by_rules = options.is_by_rules
            return await self._run_until_done(agent_run, brief, check)

    async def _run_until_done(
        self, agent_run: AgentRun, brief: Mapping[str, JsonValue], check: Check[Output] | None
    ) -> AgentResult[Output]:
        # Sorted: the brief is recorded, and the order of a set differs from process to process.
        tool_names: list[JsonValue] = [*sorted(agent_run.offered_tools.intersection(self.tools))]
        messages: list[AnyMessage | dict[str, Any]] = [make_brief_message({**brief, "tools": tool_names})]
        reminder = self.role.reminder
        for reminder_count in range(self._limits.reminders + 1):
            # The last run is the offline policy's, so that a model that never finishes still leaves an output.
            agent_run.is_handed_over = reminder_count == self._limits.reminders
            state: dict[str, Any] = await self._graph.ainvoke(
                {"messages": messages},
                context=agent_run,
                # More than the permitted answers take: our limits hand over to rules, this one only raises.
                config={"recursion_limit": 8 * self._limits.model_calls},
            )
            # LangGraph may end the inner graph quietly at an interrupt: the calling graph must pause too.
            if agent_run.interrupt:
                raise agent_run.interrupt
            output = self.role.read_output(state)
            objection: str | None = reminder
            if output is not None:
                objection = check(output, agent_run.answers) if check else None
                if objection is None:
                    return AgentResult(output, tuple(agent_run.answers), agent_run.turn + 1)
            messages = [
                *state["messages"],
                HumanMessage(objection or reminder, id=f"reminder_{agent_run.turn}"),
            ]
        raise AgentDidNotFinish(
            "agent_did_not_finish",
            f"The {self.role.name} did not finish within {agent_run.turn + 1 - agent_run.first_turn} turns. "
            f"{objection}",
            agent=self.role.name,
        )


def _make_tool_stub(spec: ToolSpec) -> BaseTool:
    """Describe a tool to a chat model. `JournalMiddleware` runs the tool, never LangChain."""

    async def never(**_: Any) -> None:
        raise AssertionError("Tools must run through the journal.")

    return StructuredTool(
        name=spec.name,
        description=spec.description,
        args_schema=spec.arguments.model_json_schema(schema_generator=PromptSchema),
        coroutine=never,
    )
