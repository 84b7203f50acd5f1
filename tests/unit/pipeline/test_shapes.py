"""The shapes that the API shows are those of the graphs that run."""

import inspect
from typing import Any

import pytest
from langgraph.graph import END, START

from app.agent_jobs import graph as job_graph
from app.errors import NotFound
from app.pipeline import graph as pipeline_graph
from app.pipeline.session_graph import describe_shape
from app.pipeline.shape import SHAPES
from app.program_runs import graph as run_graph
from app.threads import graph as chat_graph
from app.workflows.runs import graph as workflow_graph

GRAPHS = (job_graph, pipeline_graph, run_graph, chat_graph, workflow_graph)


@pytest.mark.parametrize("module", GRAPHS, ids=lambda module: module.__name__)
def test_a_shape_is_that_of_the_graph_that_runs(module: Any) -> None:
    # Services are made for a session, not for the graph.
    missing = [None] * len(inspect.signature(module.make_graph_spec).parameters)
    spec = module.make_graph_spec(*missing)
    drawn = spec.graph.get_graph()
    view = describe_shape(spec.name)
    assert {node.name for node in view.nodes} == {name for name in drawn.nodes if name not in (START, END)}
    inner = {(edge.source, edge.target) for edge in drawn.edges if edge.source != START and edge.target != END}
    assert {(edge.source, edge.target) for edge in view.edges} == inner
    assert next(edge.target for edge in drawn.edges if edge.source == START) == view.nodes[0].name


def test_each_graph_is_shown_and_another_name_is_refused() -> None:
    assert len(SHAPES) == len(GRAPHS)
    with pytest.raises(NotFound, match="pipeline, chat, run, job, workflow"):
        describe_shape("none")
