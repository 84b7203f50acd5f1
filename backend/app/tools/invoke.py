"""One tool call: validation, approval, run, record and events. Agents have no other way to act."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import structlog
from langgraph.errors import GraphBubbleUp
from pydantic import ValidationError

from app.errors import LabError, ToolRefused, Unavailable
from app.json_types import JsonValue
from app.modeling.problem.name_resolution import nearest_names, resolve_name
from app.observability.metrics.agents import count_tool_call
from app.sandbox.computation_runner import ComputationFailed
from app.sessions.events.call_announcements import announced
from app.sessions.events.events import ToolCalled, ToolReturned
from app.sessions.step_scope import Call, CallResult
from app.tools.approval import Preview, format_arguments, request_approval
from app.tools.ask_user import ask_user
from app.tools.context.tool_context import ToolContext
from app.tools.registry import ToolSpec
from app.tools.tool_errors import describe_lab_error, describe_refusal, get_refusal, make_error

log = structlog.get_logger(__name__)

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
    attempt: int = 1
    """1 for the first call of this tool in a run, and 1 more after each call of it that failed."""


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
        # Inside the recorded call: a replay gives the recorded refusal, whatever its own budget says.
        if not await step.can_afford("tool", ctx.agent) and ctx.agent not in AGENTS_WITHOUT_BUDGET:
            return _failure(make_error("budget", BUDGET_USED_UP, request.attempt))
        waits = _waits_for_user(tools, request)
        called = _describe_call(ctx, request, request.arguments)
        started = time.perf_counter()
        async with nullcontext() if waits else announced(step.emit, called):
            recorded = await _run_measured(tools, ctx, request)
        # A question interrupts the step while it waits, and `run` begins again with its answer: announced
        # above, it would be announced twice.
        if request.name == ask_user.__name__:
            step.emit(called)
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


async def _run_measured(tools: Mapping[str, ToolSpec], ctx: ToolContext, request: ToolRequest) -> CallResult:
    """Run and measure a call.

    An invented tool name would be an unbounded metric label; a call that waits for its user has not ended.
    """
    name = request.name if request.name in tools else "unknown"
    clock = time.perf_counter()
    try:
        recorded = await _run_or_refuse(tools, ctx, request)
    # How LangGraph interrupts a step for a question; it is no failure of the call.
    except GraphBubbleUp:
        raise
    except Exception:
        _report_call(ctx, name, time.perf_counter() - clock, "failed")
        raise
    _report_call(ctx, name, time.perf_counter() - clock, "refused" if recorded.failed else "done")
    return recorded


def _report_call(ctx: ToolContext, tool: str, seconds: float, outcome: str) -> None:
    """Count and log a call, without its arguments and its result: they hold what users brought."""
    count_tool_call(ctx.agent, tool, seconds, outcome)
    log.info(
        "tool_called", agent=ctx.agent, tool=tool, call=ctx.call, outcome=outcome, seconds=round(seconds, 3)
    )


async def _run_or_refuse(tools: Mapping[str, ToolSpec], ctx: ToolContext, request: ToolRequest) -> CallResult:
    try:
        spec = tools[resolve_name(request.name, tools, "tool")]
        arguments = _validate(spec, request.arguments)
        if not spec.needs_approval:
            return await _run_in_time(spec, ctx, arguments)
        approved = await _approve(ctx, spec, request, arguments)
        # Again, since the user may have written other arguments.
        arguments = _validate(spec, approved)
        async with announced(ctx.step.emit, _describe_call(ctx, request, approved)):
            recorded = await _run_in_time(spec, ctx, arguments)
        return recorded if approved == request.arguments else _add_changes(recorded, approved)
    except ToolRefused as refused:
        return _failure(describe_refusal(refused, request.attempt))
    except (ComputationFailed, Unavailable) as error:
        # A dead cell or a store that is not reached ends the step: the agent can do nothing about it.
        if error.code not in _RESOURCE_ERRORS:
            raise
        return _failure(describe_lab_error(error, request.attempt))
    except LabError as error:
        return _failure(describe_lab_error(error, request.attempt))


async def _run_in_time(spec: ToolSpec, ctx: ToolContext, arguments: Mapping[str, Any]) -> CallResult:
    """Run a tool within an operator's limit, if there is one. Raises ToolRefused when it is over."""
    try:
        async with asyncio.timeout(spec.time_limit_s) as limit:
            return await ctx.charge(await spec.run(ctx, **arguments))
    except TimeoutError:
        # A timeout of the tool's own, which is not the operator's limit.
        if not limit.expired():
            raise
        detail = f"{spec.name} took longer than {spec.time_limit_s:g} s, which the operator allows."
        raise ToolRefused(detail, kind="timed_out") from None


async def _approve(
    ctx: ToolContext, spec: ToolSpec, request: ToolRequest, arguments: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Ask the user for approval and return the approved arguments. The preview refuses invalid calls first."""
    if spec.preview:
        preview = await spec.preview(ctx, **arguments)
    else:
        preview = Preview(
            format_arguments(request.arguments),
            "The operator requires approval for every call of this tool.",
            # Names of tools are verbs with their objects.
            spec.name.replace("_", " "),
        )
    schema = spec.arguments.model_json_schema()
    return await request_approval(ctx, spec.name, request.arguments, schema, preview)


def _waits_for_user(tools: Mapping[str, ToolSpec], request: ToolRequest) -> bool:
    """Tell if the call waits before it has an effect: it runs again after the wait, and is announced then."""
    spec = tools.get(request.name)
    return request.name == ask_user.__name__ or (spec is not None and spec.needs_approval)


def _describe_call(ctx: ToolContext, request: ToolRequest, arguments: Mapping[str, Any]) -> ToolCalled:
    return ToolCalled(
        step=ctx.step.seq,
        agent=ctx.agent,
        tool=request.name,
        call=request.key,
        arguments=_shorten(arguments),
        attempt=ctx.step.attempt,
    )


def _add_changes(recorded: CallResult, approved: Mapping[str, Any]) -> CallResult:
    """Tell the agent, and whoever reads the journal, with which arguments of the user a call was executed."""
    executed: Any = {"arguments": dict(approved), "note": "The user changed the arguments of this call."}
    value: Any = recorded.value if isinstance(recorded.value, dict) else {"value": recorded.value}
    summary = f"Executed with the user's arguments. {recorded.summary}".strip()
    return replace(recorded, value={**value, "executed": executed}, summary=summary)


def _validate(spec: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    try:
        parsed = spec.arguments.model_validate(dict(arguments))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        near = nearest_names(field, spec.arguments.model_fields) if first["type"] == "extra_forbidden" else ()
        message = _validation_message(spec, error)
        raise ToolRefused(message, kind="invalid_arguments", field=field or None, nearest=[*near]) from error
    # Not `model_dump`, which would turn nested models into mappings.
    return {name: getattr(parsed, name) for name in type(parsed).model_fields}


def _validation_message(spec: ToolSpec, error: ValidationError) -> str:
    problems = []
    for problem in error.errors(include_url=False, include_context=False):
        where = ".".join(str(part) for part in problem["loc"]) or "arguments"
        problems.append(f"{where}: {problem['msg']}")
    argument_names = ", ".join(spec.arguments.model_fields) or "none"
    faults = "; ".join(problems[:_MAX_PROBLEMS])
    return f"{spec.name} does not accept these arguments: {faults}. Its arguments are: {argument_names}."


def _failure(error: JsonValue) -> CallResult:
    return CallResult(value=error, summary=get_refusal(error) or "", failed=True)


def _shorten(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value[:_MAX_ARGUMENT_CHARS] + "…"
        if isinstance(value, str) and len(value) > _MAX_ARGUMENT_CHARS
        else value
        for name, value in arguments.items()
    }
