"""Patches of RFC 6902: its examples, ids for indices, inverses and bounds."""

import json
from typing import Any

import jsonpatch
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from app.errors import InvalidInput
from app.workflows.differences import compare_documents
from app.workflows.document import WorkflowDocument
from app.workflows.patching import (
    PatchOperation,
    StoredOperation,
    apply_patch,
    dump_operations,
    make_patch,
)

NODES = [{"id": name, "type": "limit", "config": {"rows": rows}} for rows, name in enumerate("abc", 1)]
WORKFLOW = WorkflowDocument.model_validate({"nodes": NODES, "edges": [{"from": "a", "to": "b"}]})


def patched(*operations: dict[str, Any], of: WorkflowDocument = WORKFLOW) -> WorkflowDocument:
    return apply_patch(of, [PatchOperation.model_validate(operation) for operation in operations])


# Appendix A of RFC 6902, in which the document is the configuration of the node `a`.
RFC_EXAMPLES: list[tuple[Any, list[dict[str, Any]], Any]] = [
    ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"baz": "qux", "foo": "bar"}),
    (
        {"foo": ["bar", "baz"]},
        [{"op": "add", "path": "/foo/1", "value": "qux"}],
        {"foo": ["bar", "qux", "baz"]},
    ),
    ({"baz": "qux", "foo": "bar"}, [{"op": "remove", "path": "/baz"}], {"foo": "bar"}),
    ({"foo": ["bar", "qux", "baz"]}, [{"op": "remove", "path": "/foo/1"}], {"foo": ["bar", "baz"]}),
    (
        {"baz": "qux", "foo": "bar"},
        [{"op": "replace", "path": "/baz", "value": "boo"}],
        {"baz": "boo", "foo": "bar"},
    ),
    (
        {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
        [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
        {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}},
    ),
    (
        {"foo": ["all", "grass", "cows", "eat"]},
        [{"op": "move", "from": "/foo/1", "path": "/foo/3"}],
        {"foo": ["all", "cows", "eat", "grass"]},
    ),
    (
        {"baz": "qux", "foo": ["a", 2, "c"]},
        [{"op": "test", "path": "/baz", "value": "qux"}, {"op": "test", "path": "/foo/1", "value": 2}],
        {"baz": "qux", "foo": ["a", 2, "c"]},
    ),
    ({"baz": "qux"}, [{"op": "test", "path": "/baz", "value": "bar"}], None),
    (
        {"foo": "bar"},
        [{"op": "add", "path": "/child", "value": {"grandchild": {}}}],
        {"foo": "bar", "child": {"grandchild": {}}},
    ),
    ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux", "xyz": 123}], {"foo": "bar", "baz": "qux"}),
    ({"foo": "bar"}, [{"op": "add", "path": "/baz/bat", "value": "qux"}], None),
    ({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}),
    ({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": "10"}], None),
    (
        {"foo": ["bar"]},
        [{"op": "add", "path": "/foo/-", "value": ["abc", "def"]}],
        {"foo": ["bar", ["abc", "def"]]},
    ),
]


@pytest.mark.parametrize(("config", "operations", "expected"), RFC_EXAMPLES)
def test_the_examples_of_the_rfc_hold_within_a_node(
    config: Any, operations: list[dict[str, Any]], expected: Any
) -> None:
    workflow = WorkflowDocument.model_validate({"nodes": [{"id": "a", "type": "limit", "config": config}]})
    inside = [
        {**one, **{key: f"/nodes/@a/config{one[key]}" for key in ("path", "from") if key in one}}
        for one in operations
    ]
    if expected is None:
        with pytest.raises(InvalidInput, match="cannot be applied"):
            patched(*inside, of=workflow)
    else:
        assert patched(*inside, of=workflow).nodes[0].config == expected


STORED: TypeAdapter[list[StoredOperation]] = TypeAdapter(list[StoredOperation])


def test_stored_operations_have_the_members_of_their_kind_alone() -> None:
    for _, operations, _ in RFC_EXAMPLES:
        written = [PatchOperation.model_validate(operation).to_json() for operation in operations]
        assert dump_operations(STORED.validate_python(written)) == written
    kinds = {branch["$ref"].rpartition("/")[2] for branch in STORED.json_schema()["items"]["oneOf"]}
    assert kinds == {"ValueOperation", "RemoveOperation", "MoveOperation"}


def test_an_operation_with_two_names_is_not_the_first() -> None:
    """Example A.13: a name that comes twice in JSON has the last value, which has no `value` to add."""
    text = '{"op": "add", "path": "/nodes/@a/config/baz", "value": "qux", "op": "remove"}'
    operation = PatchOperation.model_validate_json(text)
    assert operation.op == "remove"
    with pytest.raises(InvalidInput, match="cannot be applied"):
        apply_patch(WORKFLOW, [operation])


def test_a_node_is_named_by_its_id_wherever_it_stands() -> None:
    after = patched(
        {"op": "remove", "path": "/nodes/@a"}, {"op": "replace", "path": "/nodes/@c/config/rows", "value": 9}
    )
    assert [(node.id, node.config["rows"]) for node in after.nodes] == [("b", 2), ("c", 9)]
    assert compare_documents(WORKFLOW, after).text == "- a (limit)\n~ c config.rows: 3 -> 9"


def test_an_operation_that_fails_changes_nothing_and_is_named() -> None:
    before = WORKFLOW.model_copy(deep=True)
    with pytest.raises(InvalidInput) as refused:
        patched({"op": "remove", "path": "/nodes/0"}, {"op": "remove", "path": "/nodes/@x"})
    assert refused.value.facts["operation"] == 1
    assert before == WORKFLOW


def test_what_is_no_workflow_any_more_is_refused_with_its_place() -> None:
    with pytest.raises(InvalidInput) as refused:
        patched({"op": "replace", "path": "/nodes/1/type", "value": 3})
    assert refused.value.facts["pointer"] == "/nodes/1/type"


def test_copies_cannot_double_a_workflow_without_end() -> None:
    copies = [{"op": "copy", "from": "/nodes/@a/config", "path": f"/nodes/@a/config/{n}"} for n in range(60)]
    with pytest.raises(InvalidInput, match="too large"):
        patched(*copies)


configs = st.dictionaries(
    st.text("xyz/~", max_size=3), st.integers(0, 3) | st.lists(st.booleans(), max_size=2), max_size=3
)


@st.composite
def workflows(draw: st.DrawFn) -> WorkflowDocument:
    """Draw a workflow with edges between some of its nodes, a few of them with a condition."""
    names = draw(st.lists(st.sampled_from("abcde"), unique=True, max_size=4))
    nodes = [{"id": name, "type": "limit", "config": draw(configs)} for name in names]
    pairs = [(source, target) for source in names for target in names if source != target]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=5)) if pairs else []
    tests = st.none() | st.fixed_dictionaries(
        {"field": st.just("rows"), "op": st.sampled_from(["=", ">"]), "value": st.integers(0, 3)}
    )
    edges = [
        {"from": source, "to": target, **({"condition": test} if (test := draw(tests)) else {})}
        for source, target in chosen
    ]
    return WorkflowDocument.model_validate({"nodes": nodes, "edges": edges})


@settings(deadline=None, max_examples=60)
@given(before=workflows(), after=workflows())
def test_a_patch_and_its_inverse_restore_the_workflow(
    before: WorkflowDocument, after: WorkflowDocument
) -> None:
    forward, back = make_patch(before, after), make_patch(after, before)
    assert jsonpatch.apply_patch(before.to_json(), forward) == after.to_json()
    assert json.loads(json.dumps(jsonpatch.apply_patch(after.to_json(), back))) == before.to_json()
    assert bool(compare_documents(before, after).text) == (before.to_json() != after.to_json()) or {
        node.id: node for node in before.nodes
    } == {node.id: node for node in after.nodes}


@pytest.mark.parametrize("value", [[], 1, "text", {"nodes": 5}, {"nodes": {"a": 1}}])
def test_a_patch_that_replaces_the_document_is_refused_where_it_names_a_node(value: Any) -> None:
    replaced = {"op": "replace", "path": "", "value": value}
    with pytest.raises(InvalidInput) as refused:
        patched(replaced, {"op": "remove", "path": "/nodes/@a"})
    assert refused.value.code == "patch_failed"
