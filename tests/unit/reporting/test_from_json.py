from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from app.reporting.from_json import KEY, FieldMissing, call_with_json, from_json


@dataclass(frozen=True)
class Leaf:
    name: str
    of_class: str | None = field(default=None, metadata={KEY: "class"})


@dataclass(frozen=True)
class Tree:
    leaf: Leaf
    maybe: Leaf | None = None
    many: Sequence[Leaf] = ()
    named: Mapping[str, Leaf | None] | None = None
    numbers: Sequence[float] = ()


def test_nested_dataclasses_are_loaded_and_other_values_are_taken_as_they_are() -> None:
    numbers = [1.0, 2.5]
    value = {
        "leaf": {"name": "a", "class": "yes"},
        "maybe": None,
        "many": [{"name": "b"}],
        "named": {"x": {"name": "c"}, "y": None},
        "numbers": numbers,
        "added_later": 1,
    }

    tree = from_json(Tree, value)

    assert tree == Tree(Leaf("a", "yes"), None, [Leaf("b")], {"x": Leaf("c"), "y": None}, numbers)
    assert tree.numbers is numbers


def test_an_instance_is_its_own_value() -> None:
    leaf = Leaf("a")

    assert from_json(Tree, {"leaf": leaf}).leaf is leaf


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "Tree has no 'leaf'"),
        ({"leaf": {}}, "Leaf has no 'name'"),
        ([], "not from list"),
        (None, "NoneType"),
    ],
)
def test_a_required_field_without_a_value_is_named(value: object, message: str) -> None:
    with pytest.raises(FieldMissing, match=message):
        from_json(Tree, value)


def test_arguments_are_loaded_by_the_types_of_the_parameters() -> None:
    def names(leaves: Sequence[Leaf], suffix: str) -> list[str]:
        return [leaf.name + suffix for leaf in leaves]

    assert call_with_json(names, {"leaves": [{"name": "a"}], "suffix": "!"}) == ["a!"]
