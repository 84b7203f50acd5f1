"""The graph `workflow`: a step for each node that does something, and one at the end."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from app.counts import describe_count
from app.errors import Conflict
from app.json_types import JsonValue
from app.observability.metrics.workflows import WORKFLOW_RUNS
from app.sessions.graphs import GraphSpec, JournaledState, journaled
from app.sessions.schemas import WORKFLOW_GRAPH
from app.sessions.step_scope import Call, CallResult, SessionFacts, StepScope
from app.workflows.document import find_descendants, nodes_by_id
from app.workflows.fusion import parse
from app.workflows.node_configs import ForEach, Notify, Trigger
from app.workflows.runs.branches import find_closing, find_open_ways
from app.workflows.runs.context import AGENT, RunContext, RunServices
from app.workflows.runs.dry_nodes import leave_out, select_alike
from app.workflows.runs.items import run_items
from app.workflows.runs.node_execution import record_node
from app.workflows.runs.schemas import NodeResult, RetriedRun
from app.workflows.stages import list_stages

VERSION = 2
"""Version of the graph: runs that have begun go on with the one that they began with."""
CONTINUED_VERSIONS = (1,)
"""Earlier versions whose runs this graph goes on with: 2 only puts other words to chat models."""


MAX_CHAINED_RUNS = 10
"""Runs that may lead to one more, each by a dataset or a call of a webhook: stages that hand tables on are
fewer, and workflows that trigger each other would go on for ever."""


class WorkflowRunState(JournaledState, total=False):
    """`stages`: nodes that do something, inputs first. `position`: the next of them."""

    stages: list[str]
    position: int
    nodes: dict[str, Any]


def make_graph_spec(services_of: Callable[[SessionFacts], RunServices]) -> GraphSpec:
    """Build the graph of runs of workflows."""

    def make_context(step: StepScope) -> RunContext:
        return RunContext(step, services_of(step.session))

    graph: Any = StateGraph(WorkflowRunState)
    graph.add_node("starting", journaled("starting", _start))
    graph.add_node("running", journaled("running", _run_node))
    graph.add_node("finishing", journaled("finishing", _finish))
    graph.add_edge(START, "starting")
    graph.add_conditional_edges("starting", _choose_next, ["running", "finishing"])
    # A step for each node, so that what was done before a crash is not done again.
    graph.add_conditional_edges("running", _choose_next, ["running", "finishing"])
    graph.add_edge("finishing", END)
    return GraphSpec(
        WORKFLOW_GRAPH, VERSION, graph.compile(), lambda _: {}, make_context, _result, CONTINUED_VERSIONS
    )


async def _start(state: WorkflowRunState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    ctx = runtime.context
    require_short_chain(ctx.preferences.chain)
    retried, dry = ctx.preferences.retried, ctx.preferences.dry
    earlier: dict[str, Any] = {}
    if retried is not None:
        earlier = await _keep_results(ctx, retried)
    elif dry is not None:
        earlier = await _keep_inputs(ctx, dry.inputs_of)
    stages = [node_id for node_id in list_stages(ctx.document) if node_id not in earlier]
    return {"position": 0, "nodes": earlier, "stages": stages}


def require_short_chain(chain: Sequence[str]) -> None:
    """Raises Conflict for a run at the end of a chain that is too long: its workflows trigger each other."""
    if len(chain) > MAX_CHAINED_RUNS:
        raise Conflict(
            "chain_too_long",
            f"{len(chain)} runs led to this one, each by a dataset that it stored or a webhook that it called: "
            f"{' -> '.join(chain)}. A chain has at most {MAX_CHAINED_RUNS}. "
            "Remove a trigger, or what sets it off.",
        )


async def _keep_results(ctx: RunContext, retried: RetriedRun) -> dict[str, Any]:
    """Take over what an earlier run did, beside the node that runs again and all behind it."""

    async def keep() -> CallResult:
        run = await ctx.services.earlier_runs.get(retried.id)
        frames = await ctx.services.earlier_runs.list_frames(retried.id)
        # With all behind it: their tables were made of what is computed anew.
        again = find_descendants(ctx.document, retried.node)
        earlier = {
            node_id: result
            for node_id, result in run.nodes.items()
            if node_id not in again and result.status == "done"
        }
        drafts = [frames[node_id] for node_id in earlier if node_id in frames]
        values: JsonValue = {node_id: result.model_dump(mode="json") for node_id, result in earlier.items()}
        return CallResult(values, f"{describe_count(len(earlier), 'result')} kept.", drafts)

    request: JsonValue = {"run": str(retried.id), "node": retried.node}
    value = await ctx.step.call(Call("choice:keep", "choice", "keep_results", AGENT, request), keep)
    return dict(value) if isinstance(value, dict) else {}


async def _keep_inputs(ctx: RunContext, run_id: UUID) -> dict[str, Any]:
    """Take over what an earlier run did at the nodes that are the same here, with the tables that they got."""

    async def keep() -> CallResult:
        runs = ctx.services.earlier_runs
        former, run, frames = (
            await runs.get_document(run_id),
            await runs.get(run_id),
            await runs.list_frames(run_id),
        )
        alike = select_alike(run.nodes, former, ctx.document)
        values: JsonValue = {node_id: result.model_dump(mode="json") for node_id, result in alike.items()}
        drafts = [frames[node_id] for node_id in alike if node_id in frames]
        return CallResult(values, f"{describe_count(len(alike), 'result')} kept.", drafts)

    call = Call("choice:keep", "choice", "keep_results", AGENT, {"run": str(run_id)})
    value = await ctx.step.call(call, keep)
    return dict(value) if isinstance(value, dict) else {}


def _choose_next(state: WorkflowRunState) -> str:
    return "running" if state["position"] < len(state["stages"]) else "finishing"


async def _run_node(state: WorkflowRunState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    ctx = runtime.context
    node = nodes_by_id(ctx.document)[state["stages"][state["position"]]]
    results = {node_id: NodeResult.model_validate(result) for node_id, result in state["nodes"].items()}
    config = parse(node)
    closing = find_closing(ctx, node, results)
    if closing is None and ctx.preferences.dry is not None:
        closing = leave_out(node)
    # Sent at the end, when it is known whether anything failed.
    if isinstance(config, Notify) and config.when == "failed":
        result = NodeResult(status="skipped")
    elif closing is not None:
        result = closing
    else:
        ways = find_open_ways(ctx, node, results)
        open_ctx = replace(ctx, open_document=ways.document)
        if isinstance(config, ForEach):
            result = await run_items(open_ctx, node, config, results)
        else:
            result = await record_node(open_ctx, node, config, results)
        result = result.model_copy(update={"notes": [*result.notes, *ways.notes]})
    return {
        "position": state["position"] + 1,
        "nodes": {**state["nodes"], node.id: result.model_dump(mode="json")},
    }


async def _finish(state: WorkflowRunState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Send the messages about a failure, each in a call of its own."""
    ctx = runtime.context
    results = {node_id: NodeResult.model_validate(result) for node_id, result in state["nodes"].items()}
    has_failed = any(result.status in ("failed", "unknown") for result in results.values())
    for node in () if ctx.preferences.dry else ctx.document.nodes:
        config = parse(node)
        if has_failed and isinstance(config, Notify) and config.when == "failed":
            results[node.id] = await record_node(ctx, node, config, results)
    nodes = {node_id: result.model_dump(mode="json") for node_id, result in results.items()}
    WORKFLOW_RUNS.labels(_find_trigger_kind(ctx), "failed" if has_failed else "succeeded").inc()
    return {"nodes": nodes}


def _find_trigger_kind(ctx: RunContext) -> str:
    """Return the kind of the trigger of a run, or `manual` or `retry`."""
    node = nodes_by_id(ctx.document).get(ctx.preferences.trigger)
    config = None if node is None else parse(node)
    return config.kind if isinstance(config, Trigger) else ctx.preferences.trigger


def _result(state: Mapping[str, Any]) -> dict[str, Any]:
    nodes = dict(state["nodes"])
    is_failed = any(node["status"] in ("failed", "unknown") for node in nodes.values())
    return {"end": "failed" if is_failed else "returned", "nodes": nodes}
