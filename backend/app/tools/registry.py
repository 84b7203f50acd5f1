"""Registry of tools: typed functions whose signature is the schema and whose docstring is the manual.

    @tool(agents=("data_analyst",))
    async def missing_share(ctx: ToolContext, frame: FrameName, column: str) -> CallResult:
        '''Share of missing values in one column (0 to 1).'''

The first parameter is the ToolContext, which an agent never sees. The function stays callable as it is.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from app.sessions.step_scope import CallResult
from app.tools.approval import PreviewFunction

FrameName = Annotated[str, Field(description="Name of a frame of this session.", max_length=200)]
ColumnName = Annotated[str, Field(max_length=500)]

ToolFunction = Callable[..., Awaitable[CallResult]]
F = TypeVar("F", bound=ToolFunction)

_AGENTS = Path(__file__).parents[1] / "agents"
EVERY_AGENT = tuple(sorted(prompt.parent.name for prompt in _AGENTS.glob("*/prompt.md")))
"""Names of the agents: the folders that hold a prompt. Read from the file system, since tools may not import
agents and a second list would be forgotten."""


@dataclass(frozen=True)
class ToolSpec:
    """One tool: description, argument model, function, and the agents that have it."""

    name: str
    description: str
    arguments: type[BaseModel]
    run: ToolFunction
    agents: tuple[str, ...]
    needs_approval: bool = False
    """True if every call waits for the user's approval."""
    preview: PreviewFunction | None = None
    """Describes the effect of a call to the user; takes the arguments of `run`."""


REGISTRY: dict[str, ToolSpec] = {}
"""Every tool of the process by name, filled as `tools/*.py` are imported."""


def tool(agents: Iterable[str], preview: PreviewFunction | None = None) -> Callable[[F], F]:
    """Register a function as a tool of these agents; `()` for one that only the pipeline itself calls.

    A tool with a `preview` asks the user before each call.
    """

    def register(function: F) -> F:
        name = function.__name__
        if name in REGISTRY and REGISTRY[name].run.__module__ != function.__module__:
            raise ValueError(f"Two tools have the name {name}.")
        REGISTRY[name] = ToolSpec(
            name=name,
            description=inspect.getdoc(function) or "",
            arguments=_argument_model(function),
            run=function,
            agents=tuple(agents),
            needs_approval=preview is not None,
            preview=preview,
        )
        return function

    return register


def agent_tools(agent: str) -> Mapping[str, ToolSpec]:
    """Return the tools of an agent before any restriction by configuration."""
    return {name: spec for name, spec in REGISTRY.items() if agent in spec.agents}


def _argument_model(function: ToolFunction) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    _, *parameters = inspect.signature(function).parameters.values()
    fields: dict[str, Any] = {
        parameter.name: (
            hints[parameter.name],
            ... if parameter.default is inspect.Parameter.empty else parameter.default,
        )
        for parameter in parameters
    }
    # Long JSON Schema titles only cost tokens; unknown arguments are refused by name.
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid", strict=False), **fields)
