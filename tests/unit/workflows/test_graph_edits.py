"""Conditions of edges stay with the result that they test when nodes come and go."""

from app.workflows.differences import compare_documents
from app.workflows.document import WorkflowDocument
from app.workflows.phrases.graph_edits import insert_after, insert_before, remove_node, rename_node

IF_ROWS = {"field": "rows", "op": ">", "value": 0}
IF_NONE = {"field": "rows", "op": "=", "value": 0}


def make(*edges: tuple[str, str, dict[str, object] | None]) -> WorkflowDocument:
    ids = dict.fromkeys(["new", *(end for edge in edges for end in edge[:2])])
    return WorkflowDocument.model_validate(
        {
            "nodes": [{"id": name, "type": "limit", "config": {"rows": 1}} for name in ids],
            "edges": [{"from": source, "to": target, "condition": test} for source, target, test in edges],
        }
    )


def lines(document: WorkflowDocument) -> list[str]:
    return sorted(edge.describe() for edge in document.edges)


def test_a_node_in_a_conditional_edge_runs_on_its_condition() -> None:
    document = make(("a", "b", IF_ROWS))
    between = ["a -> new if rows > 0", "new -> b"]
    assert lines(insert_after(document, "new", "a")) == between
    assert lines(insert_before(document, "new", "b")) == between


def test_branches_that_differ_keep_their_conditions() -> None:
    document = make(("a", "b", IF_ROWS), ("a", "c", IF_NONE))
    assert lines(insert_after(document, "new", "a")) == [
        "a -> new",
        "new -> b if rows > 0",
        "new -> c if rows = 0",
    ]


def test_what_followed_a_removed_node_runs_on_its_condition() -> None:
    assert lines(remove_node(make(("a", "b", IF_ROWS), ("b", "c", None)), "b")) == ["a -> c if rows > 0"]
    assert lines(remove_node(make(("a", "b", None), ("b", "c", IF_ROWS)), "b")) == ["a -> c if rows > 0"]


def test_a_new_name_keeps_conditions() -> None:
    assert lines(rename_node(make(("a", "b", IF_ROWS)), "a", "z")) == ["z -> b if rows > 0"]


def test_a_difference_says_which_conditions_came_went_and_changed() -> None:
    before = make(("a", "b", IF_ROWS), ("a", "c", None), ("b", "c", None))
    after = make(("a", "b", IF_NONE), ("a", "c", IF_ROWS), ("c", "d", IF_NONE))
    assert compare_documents(before, after).text.split("\n") == [
        "+ d (limit)",
        "+ c -> d if rows = 0",
        "- b -> c",
        "~ a -> b: if rows > 0 -> if rows = 0",
        "~ a -> c: always -> if rows > 0",
    ]
