"""One tool call: validation, approval, run, record and events. Agents have no other way to act."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from langgraph.errors import GraphBubbleUp
from pydantic import ValidationError

from app.errors import LabError, ToolRefused, Unavailable
from app.json_types import JsonValue
from app.modeling.problem.name_resolution import resolve_name
from app.observability.metrics.agents import count_tool_call
from app.sandbox.computation_runner import ComputationFailed
from app.sessions.events.events import ToolCalled, ToolReturned
from app.sessions.step_scope import Call, CallResult
from app.tools.approval import Preview, format_arguments, request_approval
from app.tools.context import ToolContext
from app.tools.registry import ToolSpec

REFUSED = "refused"
"""The only key of a refusal's recorded value."""

_RESOURCE_ERRORS = ("computation_timed_out", "computation_out_of_memory", "computation_out_of_disk")
"""Errors that an agent can avoid by requesting less. Other failures of a computation end the step."""

AGENTS_WITHOUT_BUDGET = ("planner", "data_retrieval", "pipeline", "reporter")
"""Agents whose tools still run after the budget is used up: the report needs them."""

BUDGET_USED_UP = "The session's budget is used up. Finish with the results so far."

_MAX_ARGUMENT_CHARS = 200
"""Characters of an argument that an event carries: enough to recognise it, and events stay small."""
_MAX_PROBLEMS = 8
"""Validation errors in one message: an agent corrects these first."""


@dataclass(frozen=True)
class ToolRequest:
    """A call requested by an agent. `key` is its place in the step (`tool:3.0`)."""

    key: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class ToolAnswer:
    """The answer to a call: a value, or a refusal that the agent can correct."""

    request: ToolRequest
    value: JsonValue
    refusal: str | None = None


async def invoke(tools: Mapping[str, ToolSpec], ctx: ToolContext, request: ToolRequest) -> ToolAnswer:
    """Run one call, or repeat its recorded answer.

    Errors that the agent can correct are returned as a refusal. Interrupts, cancellations and bugs are raised.
    """
    ctx = replace(ctx, call=request.key)
    step = ctx.step

    async def run() -> CallResult:
        if not await step.can_afford("tool", ctx.agent) and ctx.agent not in AGENTS_WITHOUT_BUDGET:
            return _refusal(BUDGET_USED_UP)
        step.emit(
            ToolCalled(
                step=step.seq,
                agent=ctx.agent,
                tool=request.name,
                call=request.key,
                arguments=_shorten(request.arguments),
                attempt=step.attempt,
            )
        )
        started = time.perf_counter()
        recorded = await _run_measured(tools, ctx, request)
        returned = ToolReturned(
            step=step.seq,
            agent=ctx.agent,
            tool=request.name,
            call=request.key,
            summary=recorded.summary,
            failed=recorded.failed,
            duration_ms=round((time.perf_counter() - started) * 1000, 3),
        )
        return replace(recorded, events=(*recorded.events, returned))

    call = Call(request.key, "tool", request.name, ctx.agent, dict(request.arguments))
    value = await step.call(call, run)
    return ToolAnswer(request, value, get_refusal(value))


def get_refusal(value: JsonValue) -> str | None:
    """Return the text of a recorded refusal, or None for a value."""
    if isinstance(value, dict) and list(value) == [REFUSED]:
        return str(value[REFUSED])
    return None


async def _run_measured(tools: Mapping[str, ToolSpec], ctx: ToolContext, request: ToolRequest) -> CallResult:
    """Run and measure a call.

    An invented tool name would be an unbounded metric label; a call that waits for its user has not ended.
    """
    name = request.name if request.name in tools else "unknown"
    clock = time.perf_counter()
    try:
        recorded = await _run_or_refuse(tools, ctx, request)
    except GraphBubbleUp:
        raise
    except Exception:
        count_tool_call(ctx.agent, name, time.perf_counter() - clock, "failed")
        raise
    count_tool_call(ctx.agent, name, time.perf_counter() - clock, "refused" if recorded.failed else "done")
    return recorded


async def _run_or_refuse(tools: Mapping[str, ToolSpec], ctx: ToolContext, request: ToolRequest) -> CallResult:
    try:
        spec = tools[resolve_name(request.name, tools, "tool")]
        arguments = _validate(spec, request.arguments)
        if spec.needs_approval:
            arguments = _validate(spec, await _approve(ctx, spec, request, arguments))
        return await spec.run(ctx, **arguments)
    except ToolRefused as refused:
        return _refusal(str(refused))
    except (ComputationFailed, Unavailable) as error:
        if error.code not in _RESOURCE_ERRORS:
            raise
        return _refusal(error.detail)
    except LabError as error:
        return _refusal(error.detail)


async def _approve(
    ctx: ToolContext, spec: ToolSpec, request: ToolRequest, arguments: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Ask the user for approval and return the approved arguments. The preview refuses invalid calls first."""
    if spec.preview:
        preview = await spec.preview(ctx, **arguments)
    else:
        preview = Preview(
            format_arguments(request.arguments), "The operator requires approval for every call of this tool."
        )
    schema = spec.arguments.model_json_schema()
    return await request_approval(ctx, spec.name, request.arguments, schema, preview)


def _validate(spec: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    try:
        parsed = spec.arguments.model_validate(dict(arguments))
    except ValidationError as error:
        raise ToolRefused(_validation_message(spec, error)) from error
    return {name: getattr(parsed, name) for name in type(parsed).model_fields}


def _validation_message(spec: ToolSpec, error: ValidationError) -> str:
    problems = []
    for problem in error.errors(include_url=False, include_context=False):
        where = ".".join(str(part) for part in problem["loc"]) or "arguments"
        problems.append(f"{where}: {problem['msg']}")
    argument_names = ", ".join(spec.arguments.model_fields) or "none"
    faults = "; ".join(problems[:_MAX_PROBLEMS])
    return f"{spec.name} does not accept these arguments: {faults}. Its arguments are: {argument_names}."


def _refusal(text: str) -> CallResult:
    return CallResult(value={REFUSED: text}, summary=text, failed=True)


def _shorten(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value[:_MAX_ARGUMENT_CHARS] + "…"
        if isinstance(value, str) and len(value) > _MAX_ARGUMENT_CHARS
        else value
        for name, value in arguments.items()
    }
