"""Words behind numbers that have two meanings are decided by the amounts of their column."""

import pandas as pd
import pytest

from app.modeling.type_inference.account_marks import resolve_marks
from app.modeling.type_inference.column_decisions import infer_types
from app.modeling.type_inference.parsers import parse_columns

from .inference import infer_parsers, parse_frame

CARD = ["2.00", "1.00 CR", "3.10", "44.95", "7.25", "15.00 CR", "1,020.00"]


def test_a_credit_among_bare_amounts_has_the_other_sign_and_not_seven_zeros() -> None:
    frame = pd.DataFrame({"amount": CARD})
    assert parse_frame(frame)["amount"].tolist() == [2, -1, 3.1, 44.95, 7.25, -15, 1020]
    with_currency = pd.DataFrame({"amount": [f"£{text}" for text in CARD]})
    assert parse_frame(with_currency)["amount"].tolist() == [2, -1, 3.1, 44.95, 7.25, -15, 1020]


def test_a_debit_without_any_credit_is_negative_and_no_unit() -> None:
    frame = pd.DataFrame({"amount": [text.replace("CR", "DR") for text in CARD]})
    (decision,) = infer_types(frame)
    assert decision.evidence["unit"] == ""
    assert "debits ('dr') are negative" in decision.text
    assert parse_frame(frame)["amount"].tolist() == [2, -1, 3.1, 44.95, 7.25, -15, 1020]
    assert decision.confidence < 1


def test_the_other_side_of_the_account_is_read_in_later_rows() -> None:
    parsers = infer_parsers(pd.DataFrame({"amount": CARD}))
    assert [parsers[0]["after"][word] for word in ("dr", "cr")] == [1, -1]


def test_a_debit_that_is_rare_is_no_typing_error() -> None:
    frame = pd.DataFrame({"amount": [f"{n}.50 CR" for n in range(1, 300)] + ["7.25 DR"]})
    assert parse_frame(frame)["amount"].tolist()[-2:] == [299.5, -7.25]


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1.2 Cr", "350 Cr", "45.5 Cr"], [1.2e7, 3.5e9, 4.55e8]),
        (["1.2 Cr", "8500000", "9,500,000", "2.4 Cr"], [1.2e7, 8.5e6, 9.5e6, 2.4e7]),
        (["5.1", "5.2 b", "4.9", "5.0"], [5.1, 5.2, 4.9, 5.0]),
        (["1.2 b", "900,000,000", "850,000,000", "2.1 b"], [1.2e9, 9e8, 8.5e8, 2.1e9]),
        (["340", "1.2k", "800", "3.4k", "12k"], [340, 1200, 800, 3400, 12000]),
    ],
)
def test_a_word_is_a_scale_where_the_amounts_need_it(texts: list[str], numbers: list[float]) -> None:
    read = parse_frame(pd.DataFrame({"v": texts}))["v"]
    assert read.tolist() == pytest.approx(numbers)


def test_crores_in_another_currency_than_a_rupee_are_credits() -> None:
    meaning = resolve_marks({"cr": ["1.20", "3.00"]}, "£")
    assert meaning is not None
    assert meaning.factors["cr"] == 1
    assert resolve_marks({"kg": ["1"], "": ["2"]}, "") is None


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        ([" $ 1,250.50 ", " $ (12.50)", " $ -   ", " $ 900.00 "], [1250.5, -12.5, 0, 900]),
        ([" $ 1,250.50 ", " $ (12.50)", " -   ", " $ 900.00 "], [1250.5, -12.5, 0, 900]),
        (["\u20ac 1.250,50", "\u20ac 12,50", "\u20ac -", "\u20ac 7,00"], [1250.5, 12.5, 0, 7]),
        (["1.250,50 \u20ac", "-12,50 \u20ac", "- \u20ac", "7,00 \u20ac"], [1250.5, -12.5, 0, 7]),
    ],
)
def test_a_dash_beside_a_currency_is_zero(texts: list[str], numbers: list[float]) -> None:
    assert parse_frame(pd.DataFrame({"v": texts}))["v"].tolist() == numbers


def test_a_dash_beside_a_currency_is_zero_in_later_rows_too() -> None:
    parsers = infer_parsers(pd.DataFrame({"v": ["$ 12.50", "$ 3.00", "$ 1.20"]}))
    assert parse_columns(pd.DataFrame({"v": ["$ -", "- $"]}), parsers)["v"].tolist() == [0, 0]
