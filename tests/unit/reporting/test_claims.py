import pytest

from app.recorded_call import RecordedCall
from app.reporting.claims import STYLES, ClaimCollector, render_claim
from app.reporting.evidence import RecordedFact


@pytest.mark.parametrize(
    ("style", "value", "text"),
    [
        ("integer", 1313, "1,313"),
        ("plain_integer", 20261121, "20261121"),
        ("score", 0.8175, "0.818"),
        ("score", -0.0194, "-0.019"),
        ("score", 71.23, "71.2"),
        ("quantity", 54.3268, "54.3"),
        ("quantity", 123456.7, "123,457"),
        ("quantity", 0.03481, "0.035"),
        ("quantity", 0.00012345, "0.000123"),
        ("quantity", 0.0, "0"),
        ("quantity", 12.0, "12"),
        ("percent", 0.4312, "43.1%"),
        ("seconds", 3.44, "3.4 s"),
        ("seconds", 180, "3.0 min"),
        ("digest", "ab" * 32, "abababababab"),
        ("minute", "2026-03-14T15:09:26+00:00", "2026-03-14 15:09"),
    ],
)
def test_a_style_formats_a_value_for_readers(style: str, value: object, text: str) -> None:
    assert STYLES[style](value) == text


def test_the_same_fact_in_the_same_style_is_one_claim() -> None:
    result = {"rows": 12}
    found = RecordedFact(RecordedCall(1, "n", "k", "t", "a", None, result), "", result).at("rows")
    assert found is not None
    ledger = ClaimCollector()

    assert ledger.read(found, "integer") is ledger.read(found, "integer")
    assert ledger.read(found, "score").id != ledger.read(found, "integer").id
    assert len(ledger.all()) == 2


def test_a_derived_claim_names_all_its_sources() -> None:
    result = {"part": 3, "whole": 12}
    whole = RecordedFact(RecordedCall(4, "n", "tool:1.0", "t", "a", None, result), "", result)
    ends = [fact for fact in (whole.at("part"), whole.at("whole")) if fact]

    claim = ClaimCollector().derive("share", ends, "percent").to_json()

    assert (claim["text"], claim["step"], claim["call"], claim["pointer"]) == ("25.0%", 4, "tool:1.0", "/part")
    assert claim["operands"] == [{"step": 4, "call": "tool:1.0", "pointer": "/whole"}]


@pytest.mark.parametrize(
    ("style", "value", "text"),
    [
        ("amount", 26_912.4, "26,900"),
        ("amount", 1_238, "1,240"),
        ("amount", 41.29, "41.3"),
        ("amount", 0.1234, "0.123"),
        ("amount", 0, "0"),
        ("amount", -1_238.0, "-1,240"),
        ("amount", 999.6, "1,000"),
        ("exact", 71_985.68000000001, "71,985.68"),
        ("exact", 11_464.7431, "11,464.7431"),
        ("exact", 0.000123456789, "0.000123457"),
        ("exact", 29.88113454926709, "29.8811"),
        ("exact", 7, "7"),
        ("exact", 7.0, "7"),
        ("percent_error", 0.1234, "12\N{NO-BREAK SPACE}%"),
        ("percent_error", 0.0243, "2.4\N{NO-BREAK SPACE}%"),
        ("of_hundred", 0.7125, "71 of 100"),
        ("of_hundred", 0.997, "99.7 of 100"),
        ("of_hundred", 1.0, "100 of 100"),
        ("month", "2024-05-01T00:00:00", "May 2024"),
        ("quarter", "2024-05-01", "quarter 2 of 2024"),
        ("year", "2024-01-01", "2024"),
        ("day", "2024-05-03T00:00:00", "3 May 2024"),
    ],
)
def test_amounts_and_periods_are_shown_as_a_reader_says_them(style: str, value: object, text: str) -> None:
    assert STYLES[style](value) == text


@pytest.mark.parametrize(
    ("style", "value", "text"),
    [
        ("score", -0.0004, "0"),
        ("signed_score", -0.0004, "0"),
        ("percent", -0.0004, "0%"),
        ("quantity", -0.0, "0"),
        ("amount", -0.0, "0"),
        ("score", -0.0006, "-0.001"),
        ("score", 0.0004, "0.000"),
    ],
)
def test_a_number_that_is_rounded_to_zero_has_no_sign(style: str, value: float, text: str) -> None:
    call = RecordedCall(1, "n", "k", "t", "a", None, {"gain": value})
    gain = RecordedFact(call, "", call.result).at("gain")
    assert gain is not None
    claim = ClaimCollector().read(gain, style)
    assert claim.text == text
    assert render_claim({"style": claim.style}, value) == text


def test_a_stored_claim_of_a_negative_zero_keeps_its_text() -> None:
    assert render_claim({"style": "score"}, -0.0004) == "-0.000"
