"""Every fault of a workflow is named at once, with its place."""

from typing import Any

import pytest
from pydantic import ValidationError

from app.workflows.document import WorkflowDocument
from app.workflows.node_types import NODE_TYPES, describe_node_types
from app.workflows.validation import find_faults, find_outputs, sort_nodes

READ = {
    "id": "orders",
    "type": "read_dataset",
    "config": {"dataset_id": "00000000-0000-4000-8000-000000000001"},
}
TOP = {"id": "top", "type": "top_k", "config": {"k": 3, "by": "amount"}}


def document(nodes: list[dict[str, Any]], *edges: tuple[str, str]) -> WorkflowDocument:
    ends = [{"from": source, "to": target} for source, target in edges]
    return WorkflowDocument.model_validate({"nodes": nodes, "edges": ends})


def test_a_workflow_without_faults_runs_inputs_first() -> None:
    workflow = document([TOP, READ], ("orders", "top"))
    assert find_faults(workflow) == []
    assert sort_nodes(workflow) == ["orders", "top"]
    assert find_outputs(workflow) == ["top"]


@pytest.mark.parametrize(
    ("nodes", "edges", "places"),
    [
        ([], [], [("/nodes", "empty_workflow")]),
        ([READ, READ], [], [("/nodes/0/id", "duplicate_id"), ("/nodes/1/id", "duplicate_id")]),
        ([{**TOP, "type": "topk"}], [], [("/nodes/0/type", "unknown_node_type")]),
        (
            [{**TOP, "config": {"k": 0, "buy": "x"}}],
            [("top", "botom")],
            [
                ("/nodes/0/config/k", "wrong_config"),
                ("/nodes/0/config/by", "wrong_config"),
                ("/nodes/0/config/buy", "wrong_config"),
                ("/edges/0/to", "unknown_node"),
            ],
        ),
        (
            [{**TOP, "config": {**TOP["config"], "kind": "limit"}}],
            [],
            [("/nodes/0/config/kind or source", "wrong_config")],
        ),
        ([TOP], [], [("/nodes/0", "wrong_inputs")]),
        (
            [READ, TOP],
            [("top", "orders"), ("orders", "top")],
            [("/nodes/0", "wrong_inputs"), ("/edges", "circle")],
        ),
        ([READ, TOP], [("orders", "top")] * 2, [("/edges/1", "duplicate_edge")]),
    ],
)
def test_faults_are_named_with_their_place(
    nodes: list[dict[str, Any]], edges: list[tuple[str, str]], places: list[tuple[str, str]]
) -> None:
    faults = find_faults(document(nodes, *edges))
    assert sorted((fault.pointer, fault.code) for fault in faults) == sorted(places)


def test_a_wrong_name_is_answered_with_the_nearest_ones() -> None:
    (fault,) = find_faults(document([{**TOP, "type": "group"}]))
    assert fault.nearest == ["group_by"]


LEARN = {"id": "learn", "type": "study", "config": {"goal": "predict amount"}}


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("{{learn.metric}} {{ learn.value }} {{orders.rows}} {{top.amount}}", None),
        ("{{lern.metric}}", ["learn"]),
        ("{{learn.metrik}}", ["metric"]),
    ],
)
def test_a_text_names_nodes_that_exist_and_what_a_study_has(text: str, nearest: list[str] | None) -> None:
    tell = {"id": "tell", "type": "notify", "config": {"channel": "email", "text": text}}
    faults = find_faults(
        document([READ, TOP, LEARN, tell], ("orders", "top"), ("orders", "learn"), ("learn", "tell"))
    )
    expected = [] if nearest is None else [("/nodes/3/config/text", "template_wrong", nearest)]
    assert [(fault.pointer, fault.code, fault.nearest) for fault in faults] == expected


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        (" ", "(agent), prompt: The prompt is empty. Write what"),
        (
            "x" * 10_001,
            "(agent), prompt: The prompt has 10,001 characters, and an agent reads 10,000. Shorten it,",
        ),
        ("rows over {{amount}}", ", prompt: {{amount}} names no value. Write a node and one of its values,"),
        ("rows over {{orders.}}", ", prompt: {{orders.}} names no value."),
        (
            "rows over {{order.rows}}",
            ", prompt: {{order.rows}} has no value. There is no node order. Did you mean",
        ),
        ("rows over {{ orders.rows }} {not a value}", None),
    ],
)
def test_the_prompt_of_an_agent_is_checked_with_what_to_do(prompt: str, message: str | None) -> None:
    ask = {"id": "ask", "type": "agent", "config": {"prompt": prompt}}
    messages = [fault.message for fault in find_faults(document([READ, ask], ("orders", "ask")))]
    if message is None:
        assert messages == []
    else:
        (found,) = messages
        assert found.removeprefix("ask").lstrip().startswith(message), found


def test_a_text_in_for_each_names_its_item_and_the_nodes_beside_it() -> None:
    inner = [
        {"id": "best", "type": "top_k", "config": {"k": 1, "by": "amount"}},
        {"id": "draw", "type": "chart", "config": {"kind": "bar", "title": "{{item.x}} {{best.x}} {{rest.x}}"}},
    ]
    each = {"id": "each", "type": "for_each", "config": {"column": "region", "nodes": inner}}
    faults = find_faults(document([READ, each], ("orders", "each")))
    assert [fault.pointer for fault in faults] == ["/nodes/1/config/nodes/1/config/title"]
    assert "rest" in faults[0].message


def test_each_type_describes_its_configuration() -> None:
    views = {view.type: view for view in describe_node_types()}
    assert views.keys() == NODE_TYPES.keys()
    assert all(view.description for view in views.values())
    assert set(views["join"].config["properties"]) == {"on", "how", "suffix"}
    assert views["join"].config["required"] == ["on"]


def branch(*conditions: dict[str, Any] | None) -> WorkflowDocument:
    """Return a document whose edges from `top`, one for each condition, lead to messages."""
    tell = [
        {"id": f"tell{place}", "type": "notify", "config": {"channel": "email"}}
        for place in range(len(conditions))
    ]
    edges = [{"from": "orders", "to": "top"}] + [
        {"from": "top", "to": node["id"], **({} if condition is None else {"condition": condition})}
        for node, condition in zip(tell, conditions, strict=True)
    ]
    return WorkflowDocument.model_validate({"nodes": [READ, TOP, *tell], "edges": edges})


def test_a_condition_of_an_edge_compares_numbers_by_order_and_anything_by_equality() -> None:
    assert (
        find_faults(branch({"field": "rows", "op": ">=", "value": 2}, {"field": "x", "op": "=", "value": "a"}))
        == []
    )
    for value in ("2", True):
        with pytest.raises(ValidationError, match="compares numbers"):
            branch({"field": "rows", "op": "<", "value": value})


def test_a_condition_of_an_edge_is_no_test_of_a_failure() -> None:
    (fault,) = find_faults(branch(None, {"field": "status", "op": "=", "value": "failed"}))
    assert (fault.pointer, fault.code) == ("/edges/2/condition/field", "condition_wrong")
    assert "when: failed" in fault.message


@pytest.mark.parametrize("value", [10**400, -(10**400), float("inf"), float("nan")])
def test_a_condition_of_an_edge_compares_with_numbers_that_figures_can_have(value: float) -> None:
    with pytest.raises(ValidationError, match="no number that a figure can have"):
        branch({"field": "rows", "op": ">", "value": value})


def test_a_document_without_conditions_is_stored_without_them() -> None:
    condition = {"field": "rows", "op": ">", "value": 2}
    edges = branch(None, condition).to_json()["edges"]
    assert edges[1:] == [{"from": "top", "to": "tell0"}, {"from": "top", "to": "tell1", "condition": condition}]


def test_a_text_names_no_node_that_runs_later_and_no_trigger() -> None:
    first = {"id": "draw", "type": "chart", "config": {"kind": "bar", "title": "{{keep.rows}}"}}
    keep = {"id": "keep", "type": "store", "config": {"name": "of {{calls.rows}} {{keep.rows}}"}}
    calls = {"id": "calls", "type": "trigger", "config": {"kind": "manual"}}
    faults = find_faults(document([READ, first, keep, calls], ("orders", "draw"), ("draw", "keep")))
    assert [(fault.pointer, fault.message.split(" has no value. ")[1].split()[0]) for fault in faults] == [
        ("/nodes/1/config/title", "keep"),
        ("/nodes/2/config/name", "calls"),
        ("/nodes/2/config/name", "keep"),
    ]
