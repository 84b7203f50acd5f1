"""Execution of nodes: each in a recorded call, whose failure is a result."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from langgraph.errors import GraphBubbleUp

from app.db.pool import is_away
from app.errors import LabError
from app.observability.metrics.workflows import WORKFLOW_NODE_SECONDS, WORKFLOW_NODES, WORKFLOW_RETRIES
from app.sessions.lease import LeaseLost
from app.sessions.step_scope import Call, CallResult, Question
from app.storage.blobs import StoreUnavailable
from app.workflows.document import Node
from app.workflows.node_configs import (
    Approve,
    AskAgent,
    Chart,
    FigureCondition,
    HttpRequest,
    Notify,
    Payload,
    Predict,
    ReadResult,
    RunPython,
    RunSql,
    RunStudy,
    Store,
)
from app.workflows.runs.agents import ask_agent
from app.workflows.runs.attempts import wait
from app.workflows.runs.context import AGENT, Results, RunContext
from app.workflows.runs.datasets import store_dataset
from app.workflows.runs.drawing import draw_chart
from app.workflows.runs.predictions import predict_table
from app.workflows.runs.results import read_result
from app.workflows.runs.schemas import NodeResult
from app.workflows.runs.sending import send_message, send_request
from app.workflows.runs.studies import run_study
from app.workflows.runs.tables import measure, read_payload, run_python, run_query, run_sql

log = logging.getLogger(__name__)

APPROVE, REJECT = "approve", "reject"
_FINAL = frozenset({"study_timed_out", "study_cancelled", "agent_not_understood"})
"""Failures that are not tried again: such a study goes on by itself, or somebody wanted no more of it, and
rules understand the same words alike."""
RETRY_PAUSES_S = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each further attempt: half a minute in all. Meanwhile the run has no place."""
RunNode = Callable[[RunContext, Node, Any, Results], Awaitable[CallResult]]


class NodeTimedOut(LabError):
    """An attempt of a node took longer than the node allows."""


class _Attempt(NamedTuple):
    """`is_replayed`: it was recorded before a crash, or before the run waited for something."""

    result: NodeResult
    is_replayed: bool


async def record_node(ctx: RunContext, node: Node, config: Any, results: Results) -> NodeResult:
    """Run a node, each attempt in a recorded call of its own, until one does not fail or all were made."""
    run = _RUNS.get(type(config), _run_query)
    reasons: list[str] = []
    while True:
        attempt = len(reasons) + 1
        attempt_ctx = replace(ctx, attempt=attempt)
        result, is_replayed = await _record_attempt(
            attempt_ctx, node, partial(run, attempt_ctx, node, config, results)
        )
        if result.status != "failed" or result.code in _FINAL or attempt > node.retries:
            break
        reasons.append(f"Attempt {attempt} failed: {result.error}")
        # An attempt from the journal was counted before the wait, or the crash.
        if not is_replayed:
            WORKFLOW_RETRIES.labels(node.type).inc()
        await wait(ctx, f"{node.id}:{attempt}", RETRY_PAUSES_S[attempt - 1])
    if not reasons:
        return result
    return result.model_copy(update={"attempts": attempt, "notes": [*reasons, *result.notes]})


async def record(ctx: RunContext, node: Node, run: Callable[[], Awaitable[CallResult]]) -> NodeResult:
    """Record what a node does. Its failure is a result; a store that is away is waited for."""
    return (await _record_attempt(ctx, node, run)).result


async def _record_attempt(ctx: RunContext, node: Node, run: Callable[[], Awaitable[CallResult]]) -> _Attempt:
    is_replayed = True

    async def run_and_count() -> CallResult:
        nonlocal is_replayed
        is_replayed = False
        began = time.perf_counter()
        answer = await run_or_fail()
        WORKFLOW_NODE_SECONDS.labels(node.type).observe(time.perf_counter() - began)
        WORKFLOW_NODES.labels(node.type, NodeResult.model_validate(answer.value).status).inc()
        return answer

    async def run_or_fail() -> CallResult:
        try:
            return await _run_in_time(node, run)
        # The step pauses, or is tried again: no result of the node.
        except (StoreUnavailable, LeaseLost, GraphBubbleUp):
            raise
        except LabError as error:
            return _failed(error)
        except Exception as error:  # else the run would end without its messages about a failure
            if is_away(error):
                raise
            log.exception("a node broke", extra={"node": node.id})
            return _failed(_describe_break(node, error))

    key = f"tool:{node.id}" if ctx.attempt == 1 else f"tool:{node.id}:{ctx.attempt}"
    call = Call(key, "tool", f"run_{node.type}", AGENT, {"node": node.id, "config": node.config})
    result = NodeResult.model_validate(await ctx.step.call(call, run_and_count))
    return _Attempt(result, is_replayed)


async def _run_in_time(node: Node, run: Callable[[], Awaitable[CallResult]]) -> CallResult:
    """Run an attempt. Raises NodeTimedOut after its time limit, when its cell is killed."""
    limit = asyncio.timeout(node.timeout_s)
    try:
        async with limit:
            return await run()
    except TimeoutError:
        if not limit.expired():
            raise
        raise NodeTimedOut(
            "node_timed_out", f"{node.id} took longer than its limit of {node.timeout_s:g} s."
        ) from None


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
        # Nobody's answer is no approval.
        default=REJECT,
    )
    answer = await ctx.step.ask(question)
    result = NodeResult(status="done", passes=answer == APPROVE)
    return CallResult(result.model_dump(mode="json"), f"{node.id}: {answer}.")


def _describe_break(node: Node, error: Exception) -> LabError:
    # Without the text of the error: it may hold a secret.
    detail = f"{node.id} failed by an error of this service: {type(error).__name__}. Its log has the error."
    return LabError("node_broken", detail)


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
    ReadResult: lambda ctx, node, config, _: read_result(ctx, node, config),
    Predict: predict_table,
    Chart: draw_chart,
    Store: store_dataset,
    RunStudy: run_study,
    AskAgent: ask_agent,
}
"""Configuration -> how its node runs; any other node is a query."""
