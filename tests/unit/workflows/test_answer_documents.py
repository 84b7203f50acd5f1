"""An answer becomes a workflow with a node for each step of its plan."""

from uuid import UUID

import pytest

from app.datasets.dataset_source import DatasetRef
from app.errors import ToolRefused
from app.workflows.conversations.answer_documents import (
    make_plan_document,
    make_sql_document,
    make_steps_document,
)
from app.workflows.validation import find_faults

CITIES = DatasetRef(UUID(int=1), "cities", "cities", "", 4, [], {})
COUNTRIES = DatasetRef(UUID(int=2), "countries", "countries", "", 2, [], {})
JOIN = {
    "kind": "join",
    "source": {"kind": "dataset", "table": "countries"},
    "on": [{"left": "country", "right": "code"}],
}
PLAN = {
    "source": {"kind": "dataset", "table": "Cities"},
    "steps": [
        JOIN,
        {"kind": "group", "keys": ["name"], "aggregations": [{"name": "n", "function": "count"}]},
        {"kind": "top_k", "k": 2, "by": "n"},
    ],
}


def test_each_step_of_a_plan_is_a_node() -> None:
    document = make_plan_document(
        PLAN, {"kind": "bar", "x": "name", "y": [], "color": None}, [CITIES, COUNTRIES]
    )
    assert find_faults(document) == []
    assert [node.type for node in document.nodes] == [
        *("read_dataset", "read_dataset", "join", "group_by", "top_k", "chart")
    ]
    assert document.inputs_of("join") == ["cities", "countries"]
    assert document.nodes[-1].config == {"kind": "bar", "x": "name"}


def test_a_table_of_the_conversation_is_no_dataset() -> None:
    with pytest.raises(ToolRefused, match="reads countries, a table of this conversation"):
        make_plan_document(PLAN, None, [CITIES])


def test_sql_reads_the_datasets_that_it_names() -> None:
    document = make_sql_document("SELECT count(*) FROM cities", [CITIES, COUNTRIES])
    assert find_faults(document) == []
    assert [node.id for node in document.nodes] == ["cities", "query"]


def test_steps_are_a_chain_and_a_wrong_one_is_refused() -> None:
    steps = [
        {"type": "http_request", "config": {"url": "https://a.example/x"}},
        {"type": "distinct", "config": {}},
    ]
    document = make_steps_document(steps)
    assert find_faults(document) == []
    assert document.inputs_of("distinct") == ["http_request"]
    with pytest.raises(ToolRefused):
        make_steps_document([{"kind": "sort"}])
