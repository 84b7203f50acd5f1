"""Results of every version are read, and keep what no field names."""

from typing import Any

import pytest

from app.sessions.result_schemas import ResultSummary

SCORED = {"name": "Ridge", "score": 0.5}


def read(result: dict[str, Any]) -> dict[str, Any]:
    return ResultSummary.model_validate(result).model_dump(mode="json", by_alias=True)


def test_a_result_without_assumptions_is_read() -> None:
    result = read({"headline": "Done", "leaderboard": [SCORED], "report": {"artifact": "a", "json": "b"}})
    assert (result["assumptions"], result["cautions"], result["holdout"]) == ([], [], None)
    assert (result["headline"], result["report"]["json"], result["report"]["model_card"]) == ("Done", "b", None)
    row = result["leaderboard"][0]
    assert (row["score"], row["compared"], row["collapsed"]) == (0.5, True, False)


@pytest.mark.parametrize(
    ("member", "stored", "read_as"),
    [
        ("leaderboard", [{"score": 0.5}], []),
        ("holdout", 0.8, None),
        ("metrics", {"f1": "high"}, {}),
        ("assumptions", [{"kind": "of a later version"}], []),
        ("problem", {"kind": "regression"}, None),
    ],
)
def test_a_member_in_a_form_of_another_version_costs_only_itself(
    member: str, stored: object, read_as: object
) -> None:
    result = read({"headline": "Done", member: stored})
    assert (result["headline"], result[member]) == ("Done", read_as)


def test_members_that_no_field_names_are_kept() -> None:
    stored = {"table": {"rows": [[1]]}, "holdout": {"value": 0.5, "period": "2024"}}
    result = read(stored)
    assert result["table"] == stored["table"]
    assert result["holdout"]["period"] == "2024"
