"""The graph of a session, as a page draws it."""

from app.pipeline import graph
from app.pipeline.session_graph import SessionGraph, describe_graph
from app.pipeline.shape import BRANCHES, EDGES, NODES

MODEL = ["planning", "data_retrieval", "split", "model_training", "model_evaluation"]


def describe(nodes: list[str], is_over: bool = False) -> SessionGraph:
    return describe_graph("pipeline", list(enumerate(nodes, 1)), has_begun=True, is_over=is_over)


def states(drawn: SessionGraph) -> dict[str, list[str]]:
    by_state: dict[str, list[str]] = {}
    for node in drawn.nodes:
        by_state.setdefault(node.state, []).append(node.name)
    return by_state


def test_the_shape_has_the_nodes_and_routes_of_the_graph() -> None:
    assert set(NODES) == set(graph.NODES)
    assert set(BRANCHES) == set(graph.ROUTES)
    reached = {target for _, target in EDGES}.union(*BRANCHES.values())
    assert reached == set(NODES) - {"planning"}


def test_before_its_first_step_a_session_plans_next() -> None:
    assert states(describe([]))["next"] == ["planning"]
    queued = describe_graph("pipeline", [], has_begun=False, is_over=False)
    assert states(queued) == {"waiting": list(NODES)}


def test_a_running_session_has_the_nodes_that_may_run_now() -> None:
    drawn = describe(MODEL)
    assert states(drawn)["next"] == [
        "feature_engineering",
        "model_training",
        "hyperparameter_tuning",
        "final_evaluation",
    ]
    assert states(drawn)["done"] == ["planning", "data_retrieval", "split", "model_evaluation"]


def test_an_ended_session_says_what_it_left_out() -> None:
    drawn = describe(["planning", "data_retrieval", "answering", "reporting"], is_over=True)
    assert states(drawn)["done"] == ["planning", "data_retrieval", "answering", "reporting"]
    assert "model_training" in states(drawn)["skipped"]


def test_an_edge_counts_how_often_it_was_taken_and_whether_it_leads_back() -> None:
    drawn = describe([*MODEL, "hyperparameter_tuning", "model_evaluation", "hyperparameter_tuning"])
    edges = {(edge.source, edge.target): edge for edge in drawn.edges}
    there, back = ("model_evaluation", "hyperparameter_tuning"), ("hyperparameter_tuning", "model_evaluation")
    assert (edges[there].passages, edges[there].loop, edges[there].conditional) == (2, False, True)
    assert (edges[back].passages, edges[back].loop) == (1, True)
    assert edges["planning", "data_retrieval"].conditional is False
    assert next(node.steps for node in drawn.nodes if node.name == "hyperparameter_tuning") == [6, 8]


def test_another_graph_is_the_chain_of_its_steps() -> None:
    drawn = describe_graph("chat", [(1, "assist"), (2, "assist"), (3, "report")], has_begun=True, is_over=True)
    assert [(node.name, node.steps) for node in drawn.nodes] == [("assist", [1, 2]), ("report", [3])]
    assert [(edge.source, edge.target) for edge in drawn.edges] == [("assist", "report")]
