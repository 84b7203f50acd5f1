"""Registry of tools: typed functions whose signature is the schema and whose docstring is the manual.

    @tool(agents=("data_analyst",))
    async def missing_share(ctx: ToolContext, frame: FrameName, column: str) -> CallResult:
        '''Share of missing values in one column (0 to 1).'''

The first parameter is the ToolContext, which an agent never sees. The function stays callable as it is.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from app.sessions.step_scope import CallResult
from app.tools.approval import PreviewFunction

FrameName = Annotated[str, Field(description="Name of a frame of this session.", max_length=200)]
ColumnName = Annotated[str, Field(max_length=500)]

ToolFunction = Callable[..., Awaitable[CallResult]]
F = TypeVar("F", bound=ToolFunction)


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
    time_limit_s: float | None = None
    """Seconds of a call, from an operator's file; None leaves the limits of its cell."""


REGISTRY: dict[str, ToolSpec] = {}
"""Every tool of the process by the name of its function, filled as the modules of `tools` are imported."""


def tool(
    agents: Iterable[str], preview: PreviewFunction | None = None, name: str | None = None
) -> Callable[[F], F]:
    """Register a function as a tool of these agents; `()` for one that only the pipeline itself calls.

    A tool with a `preview` asks the user before each call. `name`: the name that its agents know, by default
    that of the function; two agents may have different tools of one name.
    """

    def register(function: F) -> F:
        key = function.__name__
        # A module that is loaded again registers its tools again, which is no conflict.
        if key in REGISTRY and REGISTRY[key].run.__module__ != function.__module__:
            raise ValueError(f"Two tools have the name {key}.")
        REGISTRY[key] = ToolSpec(
            name=name or key,
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
    """Return the tools of an agent by name, before any restriction by configuration.

    In the order of their names: a chat model's provider caches the beginning of a prompt, tools included, and a
    replay compares them with its record. The order of registration would depend on what was imported first.
    """
    specs = sorted(REGISTRY.values(), key=lambda spec: spec.name)
    return {spec.name: spec for spec in specs if agent in spec.agents}


def _argument_model(function: ToolFunction) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    # Without the context, which no agent gives.
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
