from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import pytest
from pydantic import Field

from app.errors import InvalidInput
from app.modeling.facts.conversion import call_with_facts, dump_facts, parse_facts


@dataclass(frozen=True)
class Leaf:
    name: str
    of_class: Annotated[str | None, Field(alias="class")] = None


@dataclass(frozen=True)
class Tree:
    leaf: Leaf
    optional: Leaf | None = None
    leaves: Sequence[Leaf] = ()
    named: Mapping[str, Leaf | None] | None = None
    numbers: Sequence[float | None] = ()


DOCUMENT = {
    "leaf": {"name": "a", "class": "yes"},
    "optional": None,
    "leaves": [{"name": "b", "class": None}],
    "named": {"x": {"name": "c", "class": None}, "y": None},
    "numbers": [1.0, None],
}


def test_nested_dataclasses_are_read_and_unknown_keys_are_ignored() -> None:
    tree = parse_facts(Tree, {**DOCUMENT, "added_later": 1})

    assert tree == Tree(Leaf("a", "yes"), None, [Leaf("b")], {"x": Leaf("c"), "y": None}, [1.0, None])


def test_facts_are_written_as_they_were_read() -> None:
    assert dump_facts(parse_facts(Tree, DOCUMENT)) == DOCUMENT


def test_an_instance_is_its_own_value() -> None:
    leaf = Leaf("a")

    assert parse_facts(Tree, {"leaf": leaf}).leaf is leaf


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "Tree: leaf: "),
        ({"leaf": {}}, r"leaf\.name: "),
        ({"leaf": {"name": "a"}, "numbers": ["many"]}, r"numbers\.0: "),
        ([], "valid Tree"),
        (None, "valid Tree"),
    ],
)
def test_a_fault_is_named_by_its_place(document: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        parse_facts(Tree, document)
    assert refused.value.code == "bad_facts"


def test_arguments_are_read_by_the_types_of_the_parameters() -> None:
    def names(leaves: Sequence[Leaf] | None, suffix: str) -> list[str]:
        return [leaf.name + suffix for leaf in leaves or ()]

    assert call_with_facts(names, {"leaves": [{"name": "a"}], "suffix": "!"}) == ["a!"]
    with pytest.raises(InvalidInput, match="Leaf"):
        call_with_facts(names, {"leaves": 3, "suffix": "!"})
