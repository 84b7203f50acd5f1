"""The graph of a run: one step that computes, recorded like every call of an agent."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from app.artifacts.predictions import TABLE_CELL_LIMITS, table_computation
from app.artifacts.workspace import Workspace
from app.datasets.dataset_source import DatasetSource
from app.errors import InvalidInput, LabError, Unavailable
from app.observability.metrics.agents import count_tool_call
from app.plans.plan import Plan
from app.program_runs.plan_run import run_plan
from app.program_runs.prediction_order import PredictionOrder
from app.program_runs.schemas import GRAPH, RunPreferences
from app.sandbox.computation_runner import ComputationResult, ComputationRunner
from app.sandbox.exchange.contract import Limits
from app.sandbox.metering import read_usage
from app.sessions.events.events import Progress
from app.sessions.graphs import GraphSpec, JournaledState, journaled
from app.sessions.step_scope import Call, CallResult, SessionFacts, StepScope
from app.tools.context.tool_context import ToolContext
from app.tools.queries.program_execution import failure_report, output_artifacts, run_code, success_report

VERSION = 1
"""Version of the graph: runs that have begun go on with the one that they began with."""
MAX_SHOWN_PREDICTIONS = 20
"""Rows of predictions in the outcome of a run. The artifact holds all of them."""


class RunState(JournaledState, total=False):
    outcome: dict[str, Any]


def make_graph_spec(
    computer: ComputationRunner,
    limits: Limits,
    workspace_of: Callable[[SessionFacts], Workspace],
    shelf_of: Callable[[SessionFacts], DatasetSource],
) -> GraphSpec:
    """Build the graph of a run. `limits`: upper bounds for one run."""

    async def compute_run(state: RunState, runtime: Runtime[ToolContext]) -> dict[str, Any]:
        ctx = runtime.context
        preferences = RunPreferences.model_validate(ctx.session.preferences)
        request: Any = {"code": ctx.session.goal, **preferences.model_dump(mode="json", exclude={"workflow"})}
        # The key of an agent's first tool call: evidence, usage and exports read both alike.
        call = Call("tool:0.0", "tool", f"run_{preferences.language}", "user", request)
        return {"outcome": await ctx.step.call(call, lambda: _record_measured(ctx, preferences, limits))}

    def make_context(step: StepScope) -> ToolContext:
        facts = step.session
        return ToolContext("user", step, workspace_of(facts), shelf_of(facts), computer, call="tool:0.0")

    graph: Any = StateGraph(RunState)
    graph.add_node("running", journaled("running", compute_run))
    graph.add_edge(START, "running")
    graph.add_edge("running", END)
    return GraphSpec(GRAPH, VERSION, graph.compile(), lambda _: {}, make_context, _result)


async def _record_measured(ctx: ToolContext, preferences: RunPreferences, limits: Limits) -> CallResult:
    start = time.perf_counter()
    recorded = await _record(ctx, preferences, limits)
    if isinstance(recorded.value, dict):
        # With the outcome: the record also says where it was computed.
        recorded.value.update(await ctx.computer.describe_cells())
    outcome = "refused" if recorded.failed else "done"
    count_tool_call("user", f"run_{preferences.language}", time.perf_counter() - start, outcome)
    return recorded


async def _record(ctx: ToolContext, preferences: RunPreferences, limits: Limits) -> CallResult:
    """Run the program and record its outcome. A failing program is an outcome, an unavailable host an error."""
    run_limits = replace(limits, time_s=min(limits.time_s, preferences.time_limit_s or limits.time_s))
    try:
        if preferences.prediction is not None:
            computed = await _predict(ctx, preferences.prediction, run_limits)
        elif preferences.language == "plan":
            return await run_plan(ctx, Plan.model_validate_json(ctx.session.goal), run_limits)
        elif preferences.language != "prediction":
            computed = await run_code(ctx, preferences.language, ctx.session.goal, run_limits)
        else:
            raise InvalidInput("no_prediction", "The run does not say what to predict.")
    except Unavailable:
        raise
    except LabError as error:
        return CallResult(failure_report(error, read_usage()), error.detail, failed=True)
    return CallResult(
        success_report(computed), f"It ended in {computed.usage.wall_s:.1f} s.", output_artifacts(computed)
    )


async def _predict(ctx: ToolContext, prediction: PredictionOrder, limits: Limits) -> ComputationResult:
    def progress(fraction: float, text: str) -> None:
        ctx.step.emit(Progress(step=ctx.step.seq, attempt=ctx.step.attempt, text=text, fraction=fraction))

    run_limits = replace(limits, threads=TABLE_CELL_LIMITS.threads)
    inputs = {"model": prediction.model, "table": prediction.table}
    return await ctx.computer.run(
        table_computation(
            prediction.format,
            shown=MAX_SHOWN_PREDICTIONS,
            strict=prediction.strict,
            keep_columns=prediction.keep_columns,
            units=prediction.units,
        ),
        inputs,
        run_limits,
        progress,
    )


def _result(state: Mapping[str, Any]) -> dict[str, Any]:
    return dict(state["outcome"])
