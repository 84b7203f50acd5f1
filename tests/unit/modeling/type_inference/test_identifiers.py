"""Numbers that name something are told from measures."""

import pandas as pd
import pytest

from app.modeling.type_inference.column_decisions import infer_types
from app.modeling.type_inference.identifiers import is_identifier
from app.modeling.type_inference.value_kinds import describe_values

CODES = {
    "EAN": ["4043609715719", "4005851066169", "4056462898739", "4020264997637", "4013083526129"],
    "Gegenkonto": ["7754470829", "8670833624", "6749214949", "5109005962", "5611817486"],
    "phone": ["5551234", "5559876", "2125550", "6465550", "5552223"],
    "tel": ["+31612345678", "+4915112345678", "+12025550123"],
    "reached at": ["+31612345678", "+31612345679", "+31612345680", "+31612345681", "+4915112345678"],
    "section": ["3.9", "3.10", "3.11"],
    "version": ["1.1", "1.10", "2.3", "2.20", "3.1"],
}
MEASURES = {
    "created": ["1704067200", "1704067260", "1704067320", "1704067380", "1704067440"],
    "logged": ["1704067200000", "1704067260000", "1704067320000", "1704067380000", "1704067440000"],
    "gain": ["+1204", "+98121", "+30456789", "+15", "+77"],
    "population": ["1204", "98121", "30456789", "1500000000", "77"],
    "revenue": ["104250000", "99713000", "1126737000", "86109000", "113660000"],
    "height": ["1.1", "1.10", "2.3", "2.20", "3.1"],
    "year": ["2019", "2020", "2021", "2022", "2023"],
}


@pytest.mark.parametrize("name", CODES)
def test_codes_are_identifiers(name: str) -> None:
    assert is_identifier(name, CODES[name])


@pytest.mark.parametrize("name", MEASURES)
def test_measures_and_moments_are_no_identifiers(name: str) -> None:
    assert not is_identifier(name, MEASURES[name])


@pytest.mark.parametrize(
    ("name", "unit", "kind"),
    [
        ("yoy %", "", ("percent", "%")),
        ("Betrag", "", ("money", "")),
        ("price (EUR)", "", ("money", "EUR")),
        ("height", "", ("number", "")),
        ("height", "cm", ("number", "cm")),
        ("ride", "min", ("duration", "min")),
        ("rate", "€/h", ("money", "EUR")),
    ],
)
def test_names_and_units_tell_the_kind_of_numbers(name: str, unit: str, kind: tuple[str, str]) -> None:
    assert describe_values({"op": "read_number"}, unit, name) == kind


@pytest.mark.parametrize("mark", ["'", " "])
@pytest.mark.parametrize("decimals", [".50", ".07", ""])
def test_amounts_in_groups_of_one_length_are_numbers(mark: str, decimals: str) -> None:
    amounts = [f"{number:,}{decimals}".replace(",", mark) for number in range(1_234_567, 2_000_000, 77_777)]
    # Groups without decimals may be a telephone number's too, which stays text.
    is_number = bool(decimals) or mark == "'"
    decisions = infer_types(pd.DataFrame({"amount": amounts}))
    assert [decision.reads_as for decision in decisions] == ["number"] * is_number
