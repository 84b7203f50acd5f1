"""An agent: `create_agent` with a prompt, its tools, a typed output and the journal's middleware."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.errors import GraphBubbleUp
from pydantic import BaseModel

from app.agents.runtime.conversation import brief_message
from app.agents.runtime.recording import AgentLimits, AgentRun, Recording
from app.errors import LabError
from app.json_types import JsonValue
from app.llm.cost import Prices
from app.llm.offline import Decide, OfflineChatModel
from app.llm.providers import NamedChatModel
from app.llm.retry_policy import Patience
from app.observability.tracing import span
from app.tools.context import ToolContext
from app.tools.invoke import ToolAnswer
from app.tools.registry import ToolSpec

Output = TypeVar("Output", bound=BaseModel)

Check = Callable[[Output, Sequence[ToolAnswer]], str | None]
"""What is wrong with an output, in words that the agent can act on, or None."""

_REMINDER = "Your turn ends only by calling {name}. Correct what was refused, or call {name} now."


class AgentDidNotFinish(LabError):
    """An agent ended without its output, its successor too."""


@dataclass(frozen=True)
class Role(Generic[Output]):
    """What makes an agent itself: a name, a prompt, the output it must end with, and its offline policy."""

    name: str
    prompt: str
    output: type[Output]
    decide: Decide


@dataclass(frozen=True)
class AgentResult(Generic[Output]):
    """How an agent's turn ended. Facts come from `answers`; the output says what was chosen and why."""

    output: Output
    answers: tuple[ToolAnswer, ...]
    turns: int = 0
    """The number that the next turn of the step would have."""

    def values(self, *names: str) -> list[Any]:
        """What these tools returned, oldest first, refusals left out."""
        return [a.value for a in self.answers if a.request.name in names and a.refusal is None]


class Agent(Generic[Output]):
    """One role on one chat model. Built once per process; a run keeps nothing."""

    def __init__(
        self,
        role: Role[Output],
        speakers: Sequence[NamedChatModel],
        tools: Mapping[str, ToolSpec],
        bounds: AgentLimits | None = None,
        patience: Patience | None = None,
        caching: Sequence[AgentMiddleware[Any, Any, Any]] = (),
        prices: Prices | None = None,
    ) -> None:
        self.role = role
        self.tools = tools
        self._bounds = bounds or AgentLimits()
        successor = OfflineChatModel(decide=role.decide)
        self._graph = create_agent(
            speakers[0].model,
            [_shown(spec) for spec in tools.values()],
            system_prompt=role.prompt,
            middleware=[
                Recording(speakers, successor, self._bounds, patience or Patience(), prices or {}),
                *caching,
            ],
            response_format=ToolStrategy(role.output),
            checkpointer=False,
            name=role.name,
        )

    async def run(
        self,
        ctx: ToolContext,
        brief: Mapping[str, JsonValue],
        check: Check[Output] | None = None,
        first: int = 0,
    ) -> AgentResult[Output]:
        """Think until the output is given and `check` has nothing against it.

        `first`: the number of the first turn, for an agent that thinks again in the same step. Interrupts rise
        to the graph that called. Raises AgentDidNotFinish.
        """
        with span("invoke_agent", self.role.name, ctx.session.id, {}, waits=GraphBubbleUp):
            return await self._think(ctx, brief, check, first)

    async def _think(
        self, ctx: ToolContext, brief: Mapping[str, JsonValue], check: Check[Output] | None, first: int
    ) -> AgentResult[Output]:
        turns = AgentRun(ctx, self.tools, first)
        named: list[JsonValue] = [*sorted(self.tools)]
        messages: list[AnyMessage | dict[str, Any]] = [brief_message({**brief, "tools": named})]
        reminder = _REMINDER.format(name=self.role.output.__name__)
        for reminded in range(self._bounds.reminders + 1):
            turns.handed_over = reminded == self._bounds.reminders
            state: dict[str, Any] = await self._graph.ainvoke(
                {"messages": messages},
                context=turns,
                config={"recursion_limit": 8 * self._bounds.model_calls},
            )
            if turns.waiting:
                raise turns.waiting
            output = state.get("structured_response")
            wrong: str | None = reminder
            if isinstance(output, self.role.output):
                wrong = check(output, turns.answers) if check else None
                if wrong is None:
                    return AgentResult(output, tuple(turns.answers), turns.turn + 1)
            messages = [*state["messages"], HumanMessage(wrong or reminder, id=f"reminder_{turns.turn}")]
        raise AgentDidNotFinish(
            "agent_did_not_finish",
            f"The {self.role.name} did not come to an end in {turns.turn + 1 - first} answers. {wrong}",
            agent=self.role.name,
        )


def _shown(spec: ToolSpec) -> BaseTool:
    """The tool as a chat model sees it; the recording middleware runs it, never LangChain."""

    async def never(**_: Any) -> None:
        raise AssertionError("Tools run through the journal.")

    return StructuredTool(
        name=spec.name, description=spec.description, args_schema=spec.arguments, coroutine=never
    )
