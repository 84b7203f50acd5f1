"""Execution of a message in a direct mode: one recorded call."""

import time
from collections.abc import Awaitable, Callable, Mapping

from app.errors import LabError, Unavailable
from app.json_types import JsonValue
from app.observability.metrics.agents import count_tool_call
from app.plans.plan import Plan
from app.sessions.events.call_announcements import announced
from app.sessions.events.events import ToolCalled, ToolReturned
from app.sessions.step_scope import Call, CallResult
from app.tools.context.tool_context import ToolContext
from app.tools.conversations.queries import run_chat_plan, run_chat_program, run_chat_sql

FAILURE = "failure"
"""Key of a recorded failure, beside the output of a program up to it."""
USER = "user"
KEY = "tool:0.0"

Execute = Callable[[ToolContext, str], Awaitable[CallResult]]


async def _run_plan(ctx: ToolContext, code: str) -> CallResult:
    return await run_chat_plan(ctx, Plan.model_validate_json(code))


EXECUTIONS: Mapping[str, tuple[str, Execute]] = {
    "sql": ("execute_sql", run_chat_sql),
    "plan": ("execute_query_plan", _run_plan),
    "python": ("execute_python", run_chat_program),
}
"""Mode -> name of the recorded call, and its function."""


async def execute(ctx: ToolContext, mode: str, code: str) -> Mapping[str, JsonValue]:
    """Execute code once and record its outcome. Code that fails is an outcome, too."""
    name, run = EXECUTIONS[mode]
    step = ctx.step

    async def record() -> CallResult:
        called = ToolCalled(step=step.seq, agent=USER, tool=name, call=KEY, arguments={}, attempt=step.attempt)
        clock = time.perf_counter()
        async with announced(step.emit, called):
            recorded = await _run_or_fail(run, ctx, code)
        seconds = time.perf_counter() - clock
        count_tool_call(USER, name, seconds, "refused" if recorded.failed else "done")
        returned = ToolReturned(
            step=step.seq,
            agent=USER,
            tool=name,
            call=KEY,
            summary=recorded.summary,
            failed=recorded.failed,
            duration_ms=round(seconds * 1000, 3),
        )
        return CallResult(
            recorded.value, recorded.summary, recorded.artifacts, [returned], failed=recorded.failed
        )

    value = await step.call(Call(KEY, "tool", name, USER, {"code": code}), record)
    return value if isinstance(value, dict) else {}


async def _run_or_fail(run: Execute, ctx: ToolContext, code: str) -> CallResult:
    try:
        return await ctx.charge(await run(ctx, code))
    # Not recorded, so that the step is tried again: a lack of cells says nothing about the user's code.
    except Unavailable:
        raise
    except LabError as error:
        failure: dict[str, JsonValue] = {"code": error.code, "message": error.detail}
        output = {name: str(error.facts[name]) for name in ("stdout", "stderr") if error.facts.get(name)}
        return CallResult({FAILURE: failure, **output}, error.detail, failed=True)
