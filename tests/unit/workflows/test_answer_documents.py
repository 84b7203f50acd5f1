"""An answer becomes a workflow with a node for each step of its plan."""

from uuid import UUID

import pytest

from app.datasets.dataset_source import DatasetRef
from app.errors import ToolRefused
from app.workflows.conversations.answer_documents import (
    make_plan_document,
    make_sql_document,
)
from app.workflows.pipeline_documents import list_steps, make_steps_document
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


def test_a_step_takes_a_second_table_by_its_name() -> None:
    steps = [
        {"type": "http_request", "config": {"url": "https://a.example/x"}, "name": "prices"},
        {"type": "distinct"},
        {"type": "http_request", "config": {"url": "https://a.example/y"}},
        {"type": "join", "config": {"on": [{"left": "n", "right": "n"}]}, "with": "distinct"},
        {"type": "union", "with": "prices"},
    ]
    document = make_steps_document(steps)
    assert document.inputs_of("http_request") == []
    # The first input of a join is its left side.
    assert document.inputs_of("join") == ["http_request", "distinct"]
    assert document.inputs_of("union") == ["join", "prices"]
    for wrong in ({"type": "union", "with": "costs"}, {"type": "union", "with": "union"}):
        with pytest.raises(ToolRefused, match="There are: prices, distinct"):
            make_steps_document([*steps[:2], wrong])


def test_a_join_takes_any_two_steps_before_it() -> None:
    steps = [
        {"type": "http_request", "config": {"url": "https://a.example/x"}, "name": "prices"},
        {"type": "top_k", "config": {"k": 9, "by": "n"}, "name": "dear"},
        {"type": "http_request", "config": {"url": "https://a.example/y"}, "name": "stock"},
        {"type": "filter", "config": {"where": {"kind": "compare", "column": "n", "op": ">", "value": 1}}},
        {"type": "join", "config": {"on": [{"left": "n", "right": "n"}]}, "inputs": ["stock", "dear"]},
        {"type": "union", "inputs": ["filter", "prices", "join"]},
    ]
    document = make_steps_document(steps)
    assert document.inputs_of("join") == ["stock", "dear"]
    assert document.inputs_of("union") == ["filter", "prices", "join"]
    assert document.inputs_of("stock") == []


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"type": "union", "inputs": ["price", "distinct"]}, "Did you mean prices"),
        ({"type": "union", "inputs": ["union", "prices"]}, "There are: prices, distinct"),
        ({"type": "union", "inputs": ["prices"], "with": "distinct"}, "no `with` beside it"),
        ({"type": "union", "inputs": "prices"}, "inputs: Input should be a valid list"),
    ],
)
def test_a_step_that_names_no_step_before_it_is_refused(step: dict[str, object], reason: str) -> None:
    steps = [{"type": "http_request", "config": {"url": "https://a.example/x"}, "name": "prices"}]
    with pytest.raises(ToolRefused, match=reason):
        make_steps_document([*steps, {"type": "distinct"}, step])


def test_the_steps_of_a_document_make_it_again() -> None:
    document = make_plan_document(PLAN, {"kind": "bar", "x": "name"}, [CITIES, COUNTRIES])
    steps = list_steps(document)
    assert [step.inputs for step in steps] == [None, None, ["cities", "countries"], None, None, None]
    assert make_steps_document([step.to_json() for step in steps]) == document
