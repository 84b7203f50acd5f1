"""Conditions of edges: tests of values, and the nodes that they open and close."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from app.errors import InvalidInput
from app.workflows.document import EdgeCondition, WorkflowDocument
from app.workflows.faults import WorkflowFault
from app.workflows.joins import can_hold
from app.workflows.runs.branches import Branches
from app.workflows.runs.schemas import NodeResult
from app.workflows.validation import find_faults


@pytest.mark.parametrize(
    ("value", "op", "tested", "expected"),
    [
        (3, ">", 2, True),
        (3, ">=", 3, True),
        (2.5, "<", 2.5, False),
        (-1, "<=", 0, True),
        (3, "=", 3.0, True),
        ("Oslo", "=", "Oslo", True),
        ("Oslo", "!=", "oslo", True),
        (True, "=", True, True),
        (1, "=", True, False),
        (True, "=", 1, False),
        ("3", "=", 3, False),
    ],
)
def test_a_condition_holds(value: object, op: str, tested: object, expected: bool) -> None:
    condition = EdgeCondition.model_validate({"field": "x", "op": op, "value": tested})
    assert condition.holds(value) is expected


@pytest.mark.parametrize("value", ["3", True, [3]])
def test_what_is_no_number_has_no_order(value: object) -> None:
    with pytest.raises(InvalidInput, match="compares numbers"):
        EdgeCondition(field="x", op=">", value=2).holds(value)


def test_a_value_that_is_missing_or_cannot_be_compared_is_told_apart() -> None:
    assert can_hold([_test("rows", ">", 3), _test("rows", "<=", 4)])
    assert not can_hold([_test("rows", ">", 3), _test("rows", "<", 3)])
    assert not can_hold([_test("rows", ">", 3), _test("rows", "<=", 3)])
    assert can_hold([_test("rows", ">=", 3), _test("rows", "<=", 3)])
    assert not can_hold([_test("rows", ">=", 3), _test("rows", "<=", 3), _test("rows", "!=", 3)])
    assert not can_hold([_test("status", "=", "open"), _test("status", "=", "paid")])
    assert can_hold([_test("status", "=", "open"), _test("status", "!=", "paid")])
    assert not can_hold([_test("status", "=", "open"), _test("status", ">", 3)])


def _test(field: str, op: str, value: object) -> EdgeCondition:
    return EdgeCondition.model_validate({"field": field, "op": op, "value": value})


def _make(
    types: Mapping[str, str], edges: list[tuple[str, str, EdgeCondition | None]], *joins: str
) -> WorkflowDocument:
    return WorkflowDocument.model_validate(
        {
            "nodes": [
                {"id": name, "type": type_, "config": CONFIGS.get(type_, {}), **NEEDS_ANY}
                if name in joins
                else {"id": name, "type": type_, "config": CONFIGS.get(type_, {})}
                for name, type_ in types.items()
            ],
            "edges": [
                {"from": source, "to": target, **({"condition": test} if test else {})}
                for source, target, test in edges
            ],
        }
    )


NEEDS_ANY = {"needs": "any"}
CONFIGS: dict[str, Any] = {
    "payload": {},
    "limit": {"rows": 5},
    "notify": {"channel": "email"},
    "store": {"name": "kept"},
}
DIAMOND = [
    ("read", "many", _test("rows", ">", 3)),
    ("read", "few", _test("rows", "<=", 3)),
    ("many", "both", None),
    ("few", "both", None),
    ("both", "tell", None),
]
TYPES = {"read": "payload", "many": "limit", "few": "limit", "both": "union", "tell": "notify"}


def _judge(document: WorkflowDocument, node: str, values: Mapping[str, Any], **results: str) -> str:
    ended = {name: NodeResult.model_validate({"status": status}) for name, status in results.items()}
    return Branches(document, ended, lambda source, field: values[f"{source}.{field}"]).judge_node(node).state


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_branches_that_exclude_each_other_join_where_any_is_enough(rows: int) -> None:
    values = {"read.rows": rows}
    assert _judge(_make(TYPES, DIAMOND, "both"), "both", values, read="done") == "open"
    assert _judge(_make(TYPES, DIAMOND, "both"), "tell", values, read="done") == "open"
    assert _judge(_make(TYPES, DIAMOND), "tell", values, read="done") == "closed"
    # The same where the branches are results of their own.
    open_one, closed_one = ("many", "few") if rows > 3 else ("few", "many")
    ended = {"read": "done", open_one: "done", closed_one: "skipped"}
    assert _judge(_make(TYPES, DIAMOND, "both"), "both", values, **ended) == "open"
    ended[open_one] = "failed"
    assert _judge(_make(TYPES, DIAMOND, "both"), "both", values, **ended) == "broken"


def test_a_failure_before_a_closed_branch_breaks_the_join() -> None:
    edges = [*DIAMOND, ("lost", "few", None)]
    document = _make({**TYPES, "lost": "payload"}, edges, "both")
    values = {"read.rows": 9}
    assert _judge(document, "both", values, read="done", lost="failed", many="done", few="skipped") == "broken"
    assert _judge(document, "both", values, read="done", lost="done", many="done", few="skipped") == "open"


def test_a_join_without_an_open_input_is_closed_with_all_reasons() -> None:
    edges = [(source, target, test and _test("rows", "<", 0)) for source, target, test in DIAMOND]
    branches = Branches(_make(TYPES, edges, "both"), {"read": NodeResult(status="done")}, lambda node, field: 2)
    passage = branches.judge_node("tell")
    assert (passage.state, len(passage.reasons)) == ("closed", 2)


def test_an_edge_that_tests_passing_is_the_other_branch_of_a_condition() -> None:
    types = {"read": "payload", "ask": "approve", "yes": "store", "no": "notify"}
    edges = [("read", "ask", None), ("ask", "yes", None), ("ask", "no", _test("passes", "=", False))]
    document = _make(types, edges)
    for passes, expected in ((True, ("open", "closed")), (False, ("closed", "open"))):
        results = {"read": NodeResult(status="done"), "ask": NodeResult(status="done", passes=passes)}
        branches = Branches(document, results, lambda node, field, passes=passes: passes)
        assert (branches.judge_node("yes").state, branches.judge_node("no").state) == expected


def test_long_and_wide_queries_are_judged_in_their_size() -> None:
    chain = [f"n{number}" for number in range(480)]
    document = _make(
        {"read": "payload", **dict.fromkeys(chain, "limit")},
        [("read", "n0", _test("rows", ">", 3)), *((a, b, None) for a, b in pairwise(chain))],
    )
    assert _judge(document, "n479", {"read.rows": 4}, read="done") == "open"
    assert _judge(document, "n479", {"read.rows": 3}, read="done") == "closed"
    diamonds, types = list[tuple[str, str, EdgeCondition | None]](), {"u0": "payload"}
    for number in range(60):
        types |= {f"a{number}": "limit", f"b{number}": "limit", f"u{number + 1}": "union"}
        for side in "ab":
            diamonds += [
                (f"u{number}", f"{side}{number}", None),
                (f"{side}{number}", f"u{number + 1}", None),
            ]
    assert _judge(_make(types, diamonds), "u60", {}, u0="done") == "open"


def _faults(document: WorkflowDocument) -> list[tuple[str, str]]:
    faults: list[WorkflowFault] = find_faults(document)
    return [(fault.pointer, fault.code) for fault in faults]


def test_a_join_that_could_never_run_is_a_fault_and_so_is_one_that_has_no_such_choice() -> None:
    assert _faults(_make(TYPES, DIAMOND, "both")) == []
    assert _faults(_make(TYPES, DIAMOND)) == [("/nodes/3", "never_runs")]
    assert _faults(_make(TYPES, DIAMOND, "both", "few")) == [("/nodes/2/needs", "needs_wrong")]
    decided = {"read": "payload", "ask": "approve", "yes": "store", "no": "limit", "tell": "notify"}
    edges = [
        ("read", "ask", None),
        ("ask", "yes", None),
        ("ask", "no", _test("passes", "=", False)),
        ("yes", "tell", None),
        ("no", "tell", None),
    ]
    assert _faults(_make(decided, edges)) == [("/nodes/4", "never_runs")]
    assert _faults(_make(decided, edges, "tell")) == []
