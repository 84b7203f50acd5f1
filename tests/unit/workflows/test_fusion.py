"""Nodes become query plans: chains are one query, and columns are judged node by node."""

from itertools import pairwise
from uuid import UUID

from app.plans.compiler import compile_plan
from app.plans.plan import MAX_STEPS
from app.workflows.document import WorkflowDocument
from app.workflows.fusion import dataset_ids, is_query, judge_columns, make_plans

ORDERS, CUSTOMERS = UUID(int=1), UUID(int=2)
TABLES = {ORDERS: "orders", CUSTOMERS: "customers"}
SCHEMAS = {
    "orders": {"customer": "integer", "amount": "number"},
    "customers": {"id": "integer", "name": "text"},
}
TOTAL = {"name": "total", "function": "sum", "column": "amount"}
NODES = [
    {"id": "orders", "type": "read_dataset", "config": {"dataset_id": str(ORDERS)}},
    {"id": "customers", "type": "read_dataset", "config": {"dataset_id": str(CUSTOMERS)}},
    {"id": "totals", "type": "group_by", "config": {"keys": ["customer"], "aggregations": [TOTAL]}},
    {"id": "named", "type": "join", "config": {"on": [{"left": "customer", "right": "id"}]}},
    {"id": "best", "type": "top_k", "config": {"k": 3, "by": "total"}},
]
EDGES = [("orders", "totals"), ("totals", "named"), ("customers", "named"), ("named", "best")]


def workflow(nodes: list[dict[str, object]], edges: list[tuple[str, str]]) -> WorkflowDocument:
    ends = [{"from": source, "to": target} for source, target in edges]
    return WorkflowDocument.model_validate({"nodes": nodes, "edges": ends})


def test_a_chain_with_a_join_is_one_query() -> None:
    document = workflow(NODES, EDGES)
    plans = make_plans(document, TABLES)
    compiled = compile_plan(plans["best"], SCHEMAS)
    assert list(compiled.columns) == ["customer", "total", "id", "name"]
    assert [step.kind for step in plans["best"].steps] == ["group", "join", "top_k"]
    assert dataset_ids(document) == [ORDERS, CUSTOMERS]
    assert judge_columns(document, plans, SCHEMAS).faults == []


def test_a_wrong_column_is_a_fault_of_its_node_and_not_of_those_behind_it() -> None:
    wrong = {"id": "named", "type": "join", "config": {"on": [{"left": "custommer", "right": "id"}]}}
    document = workflow([wrong if node["id"] == "named" else node for node in NODES], EDGES)
    (fault,) = judge_columns(document, make_plans(document, TABLES), SCHEMAS).faults
    assert (fault.pointer, fault.code, fault.nearest) == ("/nodes/3/config", "unknown_column", ["customer"])
    assert fault.message.startswith("There is no column custommer")


def test_a_chain_longer_than_a_plan_is_nested() -> None:
    names = ["orders", *(f"n{place}" for place in range(MAX_STEPS + 5))]
    nodes = [NODES[0], *({"id": name, "type": "limit", "config": {"rows": 9}} for name in names[1:])]
    plans = make_plans(workflow(nodes, list(pairwise(names))), TABLES)
    assert plans[names[-1]].source.kind == "plan"
    assert len(plans[names[-1]].steps) == 5


def test_a_union_takes_the_rows_of_all_its_inputs() -> None:
    nodes = [
        NODES[0],
        *({"id": name, "type": "limit", "config": {"rows": 9}} for name in "ab"),
        {"id": "all", "type": "union"},
    ]
    edges = [("orders", "a"), ("orders", "b"), ("orders", "all"), ("a", "all"), ("b", "all")]
    plans = make_plans(workflow(nodes, edges), TABLES)
    assert [step.kind for step in plans["all"].steps] == ["union", "union"]
    assert list(compile_plan(plans["all"], SCHEMAS).columns) == ["customer", "amount"]


def test_branches_that_join_again_and_again_are_looked_at_once() -> None:
    nodes: list[dict[str, object]] = [NODES[0]]
    edges, last = [], "orders"
    for level in range(80):  # 2 to the power of 80 paths
        sides, union = [f"a{level}", f"b{level}"], f"u{level}"
        nodes += [{"id": side, "type": "distinct", "config": {}} for side in sides]
        nodes.append({"id": union, "type": "union", "config": {}})
        edges += [(last, side) for side in sides] + [(side, union) for side in sides]
        last = union
    assert is_query(workflow(nodes, edges), last)
    program = {"id": "program", "type": "python", "config": {"code": "result = a0"}}
    assert not is_query(workflow([*nodes, program], [*edges, (last, "program")]), "program")


def test_a_query_that_is_too_large_is_named_where_it_is_run() -> None:
    names = ["customers", *(f"long{place}" for place in range(10))]
    text = {"kind": "literal", "value": "x" * 2_000}
    test = {"kind": "compare", "op": "!=", "left": {"kind": "column", "name": "name"}, "right": text}
    nodes = [NODES[1], *({"id": name, "type": "filter", "config": {"condition": test}} for name in names[1:])]
    document = workflow(nodes, list(pairwise(names)))
    faults = judge_columns(document, make_plans(document, TABLES), SCHEMAS).faults
    assert [(fault.pointer, fault.code) for fault in faults] == [("/nodes/10/config", "plan_too_large")]


def test_columns_of_each_node_are_those_of_its_whole_query() -> None:
    document = workflow(NODES, EDGES)
    plans = make_plans(document, TABLES)
    judged = judge_columns(document, plans, SCHEMAS).columns
    assert judged == {node_id: compile_plan(plan, SCHEMAS).columns for node_id, plan in plans.items()}
