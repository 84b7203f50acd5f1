"""The data-science graph: its nodes, and the routes along the edges of `shape`."""

from collections.abc import Callable
from typing import Any

from langgraph.graph import END, START, StateGraph

from app.agents.context import Crew, LabContext
from app.agents.data_analyst.node import answering, data_analysis, feature_engineering
from app.agents.data_retrieval.node import data_retrieval
from app.agents.model_evaluator.node import hyperparameter_tuning, model_evaluation
from app.agents.model_trainer.node import model_training
from app.agents.planner.node import planning
from app.agents.reporter.node import reporting
from app.agents.state import LabState
from app.artifacts.workspace import Workspace
from app.charts.renderer import ChartRenderer
from app.datasets.dataset_source import DatasetSource
from app.datasets.prices import Prices
from app.pipeline.holdout_nodes import final_evaluation, split
from app.pipeline.routing import (
    Route,
    after_evaluation,
    after_retrieval,
    after_training,
    after_tuning,
    route_after,
)
from app.pipeline.shape import BRANCHES, EDGES, PLANNED_EDGES
from app.pipeline.state import initial_state, session_result
from app.pipeline.step_timing import LabNode, record_working_time
from app.sandbox.computation_runner import ComputationRunner
from app.sessions.graphs import GraphSpec, journaled
from app.sessions.recorded_facts import SessionRecords
from app.sessions.step_scope import SessionFacts, StepScope
from app.tools.context.recorded_clock import CountFitSlots, one_fit_slot

NAME = "pipeline"
VERSION = 8
"""Raised when a node, an edge or a node's recorded calls change: a session goes on with its own version."""
CONTINUED_VERSIONS = (3, 4, 5, 6, 7)
"""Earlier versions whose sessions this graph goes on with: 4 to 6 only put other words to chat models, 7 goes
back only where an answer leaves out a column, and 8 lists the tools of a chat model in another order."""

NODES: dict[str, LabNode] = {
    "planning": planning,
    "data_retrieval": data_retrieval,
    "answering": answering,
    "split": split,
    "data_analysis": data_analysis,
    "feature_engineering": feature_engineering,
    "model_training": model_training,
    "model_evaluation": model_evaluation,
    "hyperparameter_tuning": hyperparameter_tuning,
    "final_evaluation": final_evaluation,
    "reporting": reporting,
}

ROUTES: dict[str, Route] = {
    "data_retrieval": after_retrieval,
    "model_training": after_training,
    "model_evaluation": after_evaluation,
    "hyperparameter_tuning": after_tuning,
    **{stage: route_after(stage) for stage in PLANNED_EDGES},
}
"""The route that takes one of the branches of `shape` after each of these nodes."""


def make_graph_spec(
    crew: Crew,
    computer: ComputationRunner,
    workspace_of: Callable[[SessionFacts], Workspace],
    shelf_of: Callable[[SessionFacts], DatasetSource],
    records_of: Callable[[SessionFacts], SessionRecords],
    prices_of: Callable[[SessionFacts], Prices] | None = None,
    count_fit_slots: CountFitSlots = one_fit_slot,
    renderer: ChartRenderer | None = None,
) -> GraphSpec:
    """Build the pipeline as a graph that sessions can run."""
    graph: Any = StateGraph(LabState)  # its overloads do not know a node that takes any state
    for name, node in NODES.items():
        graph.add_node(name, journaled(name, record_working_time(name, node)))
    for start, end in ((START, "planning"), *EDGES, ("reporting", END)):
        graph.add_edge(start, end)
    for source, successors in BRANCHES.items():
        graph.add_conditional_edges(source, ROUTES[source], list(successors))

    def make_context(step: StepScope) -> LabContext:
        facts = step.session
        return LabContext(
            step,
            workspace_of(facts),
            shelf_of(facts),
            computer,
            crew,
            records_of(facts),
            prices_of and prices_of(facts),
            count_fit_slots,
            renderer=renderer,
        )

    return GraphSpec(
        NAME, VERSION, graph.compile(), initial_state, make_context, session_result, CONTINUED_VERSIONS
    )
