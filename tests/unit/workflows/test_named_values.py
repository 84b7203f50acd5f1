"""Values that texts and conditions of edges name are checked against columns that are known before a run."""

from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest

from app.workflows.document import WorkflowDocument
from app.workflows.fusion import find_item_faults, judge_columns, make_plans
from app.workflows.named_values import find_value_faults
from app.workflows.stages import list_stages

TABLES = {UUID(int=1): "orders"}
SCHEMAS = {"orders": {"city": "text", "amount": "number", "day": "datetime"}}
READ = {"id": "orders", "type": "read_dataset", "config": {"dataset_id": str(UUID(int=1))}}
TOP = {"id": "top", "type": "top_k", "config": {"k": 3, "by": "amount"}}
WEB = {"id": "web", "type": "http_request", "config": {"url": "https://example.com/x"}}
CHECK = {"id": "check", "type": "condition", "config": {}}


def tell(text: str) -> dict[str, Any]:
    return {"id": "tell", "type": "notify", "config": {"channel": "email", "text": text}}


def chain(*nodes: dict[str, Any], condition: dict[str, Any] | None = None) -> WorkflowDocument:
    """Return a chain of nodes; the last edge has the condition."""
    edges: list[dict[str, Any]] = [{"from": a["id"], "to": b["id"]} for a, b in pairwise(nodes)]
    if condition is not None:
        edges[-1]["condition"] = condition
    return WorkflowDocument.model_validate({"nodes": nodes, "edges": edges})


def find(document: WorkflowDocument) -> list[tuple[str, str, list[str]]]:
    columns = judge_columns(document, make_plans(document, TABLES), SCHEMAS).columns
    return [(fault.pointer, fault.code, fault.nearest) for fault in find_value_faults(document, columns)]


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("{{top.amount}} {{orders.city}} {{top.rows}} {{check.day}} {{check.figure}} {{top.status}}", None),
        ("{{top.amuont}}", ["amount"]),
        ("{{check.citty}}", ["city"]),
        ("{{top.figure}}", []),
    ],
)
def test_a_column_in_a_text_is_one_of_its_node(text: str, nearest: list[str] | None) -> None:
    faults = find(chain(READ, TOP, CHECK, tell(text)))
    assert faults == ([] if nearest is None else [("/nodes/3/config/text", "template_wrong", nearest)])


def test_columns_that_only_a_run_knows_are_not_judged() -> None:
    assert find(chain(WEB, TOP, tell("{{web.anything}} {{top.anything}}"))) == []


@pytest.mark.parametrize(
    ("field", "op", "value", "place"),
    [
        ("rows", ">", 0, None),
        ("amount", "<=", 2.5, None),
        ("city", "=", "Oslo", None),
        ("day", "!=", "2024-01-01", None),
        ("ctiy", "=", "Oslo", "field"),
        ("city", ">", 3, "value"),
        ("amount", "=", "many", "value"),
        ("rows", "=", "many", "value"),
    ],
)
def test_a_condition_fits_the_value_that_it_tests(
    field: str, op: str, value: object, place: str | None
) -> None:
    faults = find(chain(READ, TOP, tell(""), condition={"field": field, "op": op, "value": value}))
    assert [fault[:2] for fault in faults] == (
        [] if place is None else [(f"/edges/1/condition/{place}", "condition_wrong")]
    )


def test_texts_in_for_each_name_columns_of_the_item_and_of_the_nodes_beside_it() -> None:
    inner = [
        {"id": "best", "type": "select", "config": {"columns": [{"name": "day"}, {"name": "amount"}]}},
        {"id": "draw", "type": "chart", "config": {"kind": "bar", "title": "{{item.city}} {{best.city}}"}},
    ]
    each = {"id": "each", "type": "for_each", "config": {"column": "city", "nodes": inner}}
    faults = find_item_faults(chain(READ, each), TABLES, SCHEMAS)
    assert [
        (fault.pointer, fault.message.partition(". Did")[0].partition(" It has")[0]) for fault in faults
    ] == [
        (
            "/nodes/1/config/nodes/1/config/title",
            "draw, title: {{best.city}} has no value. best has no city.",
        )
    ]


def test_a_node_whose_values_are_named_is_computed_for_itself() -> None:
    last = {"id": "last", "type": "limit", "config": {"rows": 1}}
    assert list_stages(chain(READ, TOP, last, tell(""))) == ["last", "tell"]
    assert list_stages(chain(READ, TOP, last, tell("{{top.rows}}"))) == ["top", "last", "tell"]
    condition = {"field": "rows", "op": ">", "value": 0}
    branch = WorkflowDocument.model_validate(
        {
            "nodes": [READ, TOP, last],
            "edges": [
                {"from": "orders", "to": "top", "condition": condition},
                {"from": "top", "to": "last"},
            ],
        }
    )
    assert list_stages(branch) == ["orders", "last"]
