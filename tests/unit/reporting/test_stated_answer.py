"""Figures of an answer in words: each is a recorded value, a quotation, or refused."""

import pytest

from app.recorded_call import RecordedCall
from app.reporting.claims import STYLES
from app.reporting.stated_answer import AnswerSources

GOAL = "Give the mean fare of class 3 for 2019, as @mean[x], and the p-value at the 5% level."


def answer_call(rows: list[list[object]], code: str = "", tool: str = "answer_by_program") -> RecordedCall:
    result = {"columns": [{"name": "group"}, {"name": "value"}], "rows": rows, "row_count": len(rows)}
    return RecordedCall(4, "answering", "tool:0.0", tool, "data_analyst", {"code": code}, result)


def shown(text: str, *rows: list[object], code: str = "") -> dict[str, str]:
    sources = AnswerSources([answer_call([*rows], code)], [GOAL])
    figures, unknown = sources.find_all(text)
    assert not unknown, unknown
    return {text[f.start : f.end]: f.style if f.fact else "quoted" for f in figures}


@pytest.mark.parametrize(
    ("text", "value", "style"),
    [
        ("@mean[23.45]", 23.4459, "fixed_2"),
        ("It is 0.7366.", 0.73661, "fixed_4"),
        ("In all 11,464.74 dollars", 11464.7392, "grouped_2"),
        ("p = 1.2e-05", 0.0000121, "scientific_1"),
        ("a share of 12.3%", 0.12321, "hundredfold_1"),
        ("a share of 12.3 %", 12.3, "fixed_1"),
        ("correlation of -0.35", -0.3512, "fixed_2"),
        ("from -0.35 on", -0.3512, "fixed_2"),
    ],
)
def test_a_figure_is_the_recorded_value_that_it_rounds(text: str, value: float, style: str) -> None:
    [(_, found)] = [entry for entry in shown(text, ["a", value]).items() if entry[1] != "quoted"]
    assert found == style


def test_figures_of_the_question_of_cells_and_of_the_code_are_quotations() -> None:
    text = "In 2019, class 3 (group Q4-b) is significant at alpha 0.025: 17"
    found = shown(text, ["Q4-b", 17], code="alpha = 0.025")
    assert found == {"2019": "quoted", "3": "quoted", "Q4-b": "quoted", "0.025": "quoted", "17": "fixed_0"}


def test_a_figure_that_nothing_recorded_is_named_with_the_nearest() -> None:
    sources = AnswerSources([answer_call([["a", 17.351]])], [GOAL])
    _, unknown = sources.find_all("It is 17.4 or 18.2.")
    assert [str(figure) for figure in unknown] == ["18.2 (nearest: 17.351, 1)"]


def test_the_newest_answer_is_cited_first() -> None:
    first, second = answer_call([["a", 0.5]]), answer_call([["a", 0.51]])
    sources = AnswerSources([first, second], [])
    [figure], _ = sources.find_all("0.5")
    assert figure.fact is not None
    assert figure.fact.value == 0.5
    [figure], _ = sources.find_all("0.51")
    assert figure.fact is not None
    assert figure.fact.call is second


@pytest.mark.parametrize(
    ("value", "shown"), [(0.736612, "0.736612"), (23.45, "23.45"), (11464.74, "11,464.74"), (1 / 3, "0.33333")]
)
def test_a_value_that_was_rounded_keeps_all_of_its_decimals(value: float, shown: str) -> None:
    assert STYLES["as_rounded"](value).startswith(shown[:6])
    if round(value, 8) == value:
        assert STYLES["as_rounded"](value) == shown
