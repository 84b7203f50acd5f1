"""Descriptions of tools name what the tools accept."""

import re

import pytest

from app.modeling.problem.family_catalog import FAMILIES
from app.modeling.recipe.recipe import parse_recipe
from app.tools.toolsets import REGISTRY


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_training_tools_name_every_family_of_their_kind_and_no_other(kind: str) -> None:
    description = REGISTRY[f"train_{kind}_model"].description
    named = {family.name for family in FAMILIES if re.search(rf"\b{family.name}\b", description)}
    assert named == {family.name for family in FAMILIES if kind in family.kinds}


def test_no_description_has_a_placeholder() -> None:
    assert [name for name, spec in REGISTRY.items() if re.search(r"\b[A-Z]{8,}\b", spec.description)] == []


@pytest.mark.parametrize("tool", ["clean_data", "create_features"])
def test_the_operations_of_a_description_can_be_parsed(tool: str) -> None:
    schema = REGISTRY[tool].arguments.model_json_schema()["properties"]["operations"]
    operations = re.findall(r"\{'op': '(\w+)'[^}]*\}", schema["description"])
    assert len(operations) >= 5
    pairs = {"pairs": [["a", "b"]]}
    columns = {"columns": ["a"]}
    fields = {
        "combine": {"how": "ratio", **pairs},
        "days_between": pairs,
        "extract": {"what": "domain", **columns},
    }
    for name in operations:
        parse_recipe([{"op": name, **fields.get(name, columns)}])
