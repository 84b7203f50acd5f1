"""Nine agents that do nothing: what is left is the machinery."""

from collections.abc import Mapping
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from app.sessions.graphs import GraphSpec, JournaledState, journaled
from app.sessions.step_scope import StepScope

NODES = (
    "planning",
    "data_retrieval",
    "data_analysis",
    "feature_engineering",
    "model_training",
    "model_evaluation",
    "hyperparameter_tuning",
    "final_evaluation",
    "reporting",
)


class NoopState(JournaledState, total=False):
    done: str


async def _nothing(state: Mapping[str, Any], runtime: Runtime[StepScope]) -> dict[str, Any]:
    return {"done": runtime.context.node}


def spec() -> GraphSpec:
    graph = StateGraph(NoopState)
    for name in NODES:
        graph.add_node(name, journaled(name, _nothing))
    for before, after in zip((START, *NODES), (*NODES, END), strict=True):
        graph.add_edge(before, after)
    return GraphSpec(
        name="pipeline",
        version=1,
        graph=graph.compile(),
        initial=lambda facts: {},
        make_context=lambda step: step,
        result=lambda state: {"done": state["done"]},
    )
