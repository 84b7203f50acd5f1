"""Execution of nodes: each in a recorded call, whose failure is a result."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from app.errors import LabError, Unavailable
from app.sessions.step_scope import Call, CallResult, Question
from app.workflows.document import Node
from app.workflows.node_configs import (
    Approve,
    Chart,
    FigureCondition,
    HttpRequest,
    Notify,
    Payload,
    Predict,
    RunPython,
    RunSql,
    RunStudy,
    Store,
)
from app.workflows.runs.context import Results, RunContext
from app.workflows.runs.datasets import store_dataset
from app.workflows.runs.drawing import draw_chart
from app.workflows.runs.predictions import predict_table
from app.workflows.runs.schemas import NodeResult
from app.workflows.runs.sending import AGENT, send_message, send_request
from app.workflows.runs.studies import run_study
from app.workflows.runs.tables import measure, read_payload, run_python, run_query, run_sql

APPROVE, REJECT = "approve", "reject"
_OUTSIDE = frozenset({"request_failed", "request_timed_out", "host_unknown"})
"""Failures of other servers: results of a node, while one of this service is tried again."""
RunNode = Callable[[RunContext, Node, Any, Results], Awaitable[CallResult]]


async def record_node(ctx: RunContext, node: Node, config: Any, results: Results) -> NodeResult:
    """Run a node in a recorded call."""
    run = _RUNS.get(type(config), _run_query)
    return await record(ctx, node, lambda: run(ctx, node, config, results))


async def record(ctx: RunContext, node: Node, run: Callable[[], Awaitable[CallResult]]) -> NodeResult:
    """Record what a node does. Its failure is a result, one of this service is tried again."""

    async def run_or_fail() -> CallResult:
        try:
            return await run()
        except Unavailable as error:
            if error.code not in _OUTSIDE:
                raise
            return _failed(error)
        except LabError as error:
            return _failed(error)

    call = Call(f"tool:{node.id}", "tool", f"run_{node.type}", AGENT, {"node": node.id, "config": node.config})
    return NodeResult.model_validate(await ctx.step.call(call, run_or_fail))


async def _test(ctx: RunContext, node: Node, condition: FigureCondition) -> CallResult:
    figure = await measure(ctx, node, condition)
    before = await ctx.services.find_figure(node.id)
    passes = condition.holds(figure, before)
    result = NodeResult(status="done", figure=figure, passes=passes)
    return CallResult(result.model_dump(mode="json"), f"{node.id} {'passes' if passes else 'does not pass'}.")


async def _ask(ctx: RunContext, node: Node, config: Approve) -> CallResult:
    question = Question(
        f"approve:{node.id}",
        AGENT,
        config.text,
        {"enum": [APPROVE, REJECT]},
        options=[APPROVE, REJECT],
        default=REJECT,
    )
    answer = await ctx.step.ask(question)
    result = NodeResult(status="done", passes=answer == APPROVE)
    return CallResult(result.model_dump(mode="json"), f"{node.id}: {answer}.")


def _failed(error: LabError) -> CallResult:
    result = NodeResult(status="failed", error=error.detail, code=error.code)
    return CallResult(result.model_dump(mode="json"), error.detail, failed=True)


async def _run_query(ctx: RunContext, node: Node, config: Any, results: Results) -> CallResult:
    return await run_query(ctx, node)


_RUNS: Mapping[type, RunNode] = {
    HttpRequest: lambda ctx, node, config, _: send_request(ctx, node, config),
    Notify: send_message,
    FigureCondition: lambda ctx, node, config, _: _test(ctx, node, config),
    Approve: lambda ctx, node, config, _: _ask(ctx, node, config),
    Payload: lambda ctx, node, config, _: read_payload(ctx, node, config),
    RunSql: lambda ctx, node, config, _: run_sql(ctx, node, config),
    RunPython: lambda ctx, node, config, _: run_python(ctx, node, config),
    Predict: predict_table,
    Chart: draw_chart,
    Store: store_dataset,
    RunStudy: run_study,
}
"""Configuration -> how its node runs; any other node is a query."""
