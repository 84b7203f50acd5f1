"""Factors between the units of a column in two files."""

import pytest

from app.errors import InvalidInput
from app.modeling.type_inference.parsers import NumberParser
from app.modeling.type_inference.unit_factors import find_factors


def find(unit: str, before: dict[str, float] | None = None, after: dict[str, float] | None = None) -> float:
    parser = NumberParser(columns=("weight",), before=before or {}, after=after or {})
    return find_factors({"weight": parser}, {"weight": unit}).get("weight", 1.0)


@pytest.mark.parametrize(
    ("after", "unit", "factor"),
    [
        ({"kg": 1.0, "g": 0.001}, "g", 0.001),
        ({"kg": 1.0}, "g", 0.001),
        ({"g": 1.0}, "kg", 1000.0),
        ({"km": 1.0}, "m", 0.001),
        ({"min": 1.0}, "h", 60.0),
        ({"kg": 1.0}, "kg", 1.0),
        ({"beds": 1.0}, "bed", 1.0),
        ({}, "kg", 1.0),
    ],
)
def test_a_unit_is_converted_to_that_of_training(after: dict[str, float], unit: str, factor: float) -> None:
    assert find(unit, after=after) == pytest.approx(factor)


@pytest.mark.parametrize(
    ("before", "after", "unit"), [({"$": 1.0}, {}, "EUR"), ({}, {"kg": 1.0}, "lb"), ({}, {"kg": 1.0}, "km")]
)
def test_a_unit_that_is_not_converted_is_refused(
    before: dict[str, float], after: dict[str, float], unit: str
) -> None:
    with pytest.raises(InvalidInput, match="weight is in"):
        find(unit, before, after)


def test_signs_and_codes_of_one_currency_are_one_unit() -> None:
    assert find("USD", before={"$": 1.0}) == 1.0
    assert find("EUR", after={"euro": 1.0, "k": 1000.0}) == 1.0
