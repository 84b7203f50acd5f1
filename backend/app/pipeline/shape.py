"""Nodes and edges of the data-science graph as names, for the graph itself and for those that draw it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from app.agents.planner.stages import Stage

PLANNED_EDGES: Mapping[Stage, tuple[Stage, ...]] = {
    "split": ("data_analysis", "feature_engineering", "model_training", "reporting"),
    "data_analysis": ("feature_engineering", "model_training", "reporting"),
    "feature_engineering": ("model_training", "reporting"),
}
"""Stages after which the plan decides on the next one."""

REFITTING_STAGES = ("feature_engineering", "model_training")
"""Stages that run again where the evaluation sends the work back, or an answer leaves out a used column."""

BRANCHES: Mapping[str, tuple[str, ...]] = {
    "data_retrieval": ("split", "answering"),
    **{str(stage): successors for stage, successors in PLANNED_EDGES.items()},
    "model_training": ("model_evaluation", "reporting", *REFITTING_STAGES),
    "model_evaluation": ("hyperparameter_tuning", "final_evaluation", *REFITTING_STAGES),
    "hyperparameter_tuning": ("model_evaluation", *REFITTING_STAGES),
}
"""Nodes after which one of several comes."""

EDGES = (
    ("planning", "data_retrieval"),
    ("answering", "reporting"),
    ("final_evaluation", "reporting"),
)
"""Nodes after which one certain node comes. The graph begins with `planning` and ends with `reporting`."""

NODES = (
    "planning",
    "data_retrieval",
    "answering",
    "split",
    "data_analysis",
    "feature_engineering",
    "model_training",
    "model_evaluation",
    "hyperparameter_tuning",
    "final_evaluation",
    "reporting",
)
"""In the order of a session that goes nowhere twice."""


@dataclass(frozen=True)
class GraphShape:
    """`branches`: successors by node, of which one comes; `edges`: pairs of a node and its only successor."""

    nodes: Sequence[str]
    edges: Sequence[tuple[str, str]]
    branches: Mapping[str, Sequence[str]]

    def successors(self, node: str) -> Sequence[str]:
        return self.branches.get(node) or [target for source, target in self.edges if source == node]


PIPELINE = GraphShape(NODES, EDGES, BRANCHES)


def chain_shape(nodes: Sequence[str]) -> GraphShape:
    """Make the shape of another graph from the nodes that a session went through."""
    names = list(dict.fromkeys(nodes))
    return GraphShape(names, list(pairwise(names)), {})


SHAPES: Mapping[str, GraphShape] = {
    "pipeline": PIPELINE,
    "chat": chain_shape(["answering"]),
    "run": chain_shape(["running"]),
    "job": chain_shape(["dispatching"]),
    # A step of `running` for each node of the workflow.
    "workflow": GraphShape(
        ("starting", "running", "finishing"),
        (),
        {"starting": ("running", "finishing"), "running": ("running", "finishing")},
    ),
}
"""The graphs that sessions run, by name."""
