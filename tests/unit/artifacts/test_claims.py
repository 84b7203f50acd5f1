"""Claims of a report by the recorded calls that they rest on."""

import pytest

from app.artifacts.claims import ClaimSelection, read_claims

SCORE = {"step": 9, "call": "tool:0.0", "pointer": "/metrics/roc_auc/value"}
ROWS = {"step": 2, "call": "tool:1.0", "pointer": "/rows"}


def claim(id_: str, source: dict[str, object], *operands: dict[str, object]) -> dict[str, object]:
    return {
        "id": id_,
        "text": "0.83",
        "value": 0.83,
        **source,
        "style": "score",
        "operation": "share" if operands else "read",
        "operands": list(operands),
    }


CLAIMS = read_claims({"claims": [claim("c1", SCORE), claim("c2", ROWS), claim("c3", ROWS, SCORE)]})


@pytest.mark.parametrize(
    ("selection", "ids"),
    [
        (ClaimSelection(), ["c1", "c2", "c3"]),
        (ClaimSelection(9, "tool:0.0"), ["c1", "c3"]),
        (ClaimSelection(9, "tool:0.0", "/metrics"), ["c1", "c3"]),
        (ClaimSelection(9, "tool:0.0", "/metrics/roc_auc/value"), ["c1", "c3"]),
        (ClaimSelection(9, "tool:0.0", "/metrics/roc"), []),
        (ClaimSelection(2), ["c2", "c3"]),
        (ClaimSelection(9, "tool:1.0"), []),
    ],
)
def test_a_call_leads_to_the_claims_that_rest_on_it(selection: ClaimSelection, ids: list[str]) -> None:
    assert [claim.id for claim in selection.select(CLAIMS)] == ids


def test_a_claim_names_all_its_sources() -> None:
    assert [source.step for source in CLAIMS[2].sources] == [2, 9]


def test_a_report_without_claims_has_none() -> None:
    assert read_claims({"version": 1}) == []
