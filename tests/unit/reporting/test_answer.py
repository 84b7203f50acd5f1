"""The report of an answered question: every figure and every name from data is read again."""

from typing import Any

import pytest

from app.recorded_call import RecordedCall
from app.reporting import html, markdown
from app.reporting.compose import build_draft, compose
from app.reporting.document.inline_elements import plain_text
from app.reporting.evidence import RecordedFact
from app.reporting.pages.answer import headline
from app.reporting.results import summarise
from app.reporting.verification import verify_report

SQL = 'SELECT "Q3 2024", avg(x) AS "mean of x1" FROM t WHERE x > 5 GROUP BY 1'


def answered(rows: list[list[Any]], node: str = "answering", **more: Any) -> list[RecordedCall]:
    facts = {
        "columns": [{"name": "Q3 2024", "type": "text"}, {"name": "mean of x1", "type": "number"}],
        "rows": rows,
        "row_count": len(rows),
        "truncated": False,
        "language": "sql",
        "code": SQL,
        "rows_used": 40,
        "rows_there": 50,
        "tables": ["t"],
        "readings": ["`x1` is taken for '7 <b>up</b>'."],
        **more,
    }
    return [
        RecordedCall(3, node, "tool:0.0", "answer_by_sql", "data_analyst", {"sql": SQL}, facts),
        RecordedCall(
            4, "reporting", "tool:0.0", "generate_summary", "reporter", {}, {"session": {"goal": "Q?"}}
        ),
    ]


def draft(calls: list[RecordedCall]) -> Any:
    return build_draft(calls, RecordedFact(calls[-1], "/session", calls[-1].result["session"]))


def test_the_report_of_an_answer_full_of_numerals_passes_the_check():
    calls = answered([["2nd half", 1.5], ["<script>1</script>", None], [None, 2e9]])
    made = draft(calls)
    report = compose(made)
    page, text = html.render(report.lay_out(), {}), markdown.render(report.lay_out())
    verdict = verify_report(report.to_json(), calls, page, text)
    assert verdict.passes, verdict.mismatches
    assert verdict.checked >= 10
    assert "<script>" not in page
    assert [block.kind for block in report.blocks][:3] == ["understanding", "answer", "evidence"]


def test_one_altered_figure_fails_the_report():
    calls = answered([["a", 1.5], ["b", 2.5]])
    report = compose(draft(calls)).to_json()
    assert verify_report(report, calls).passes
    assert not verify_report(report, answered([["a", 1.5], ["b", 2.6]])).passes


def test_the_answer_in_a_sentence():
    assert plain_text(headline(draft(answered([["a", 1.5], ["b", 2.5]])))) == "mean of x1: a 1.5; b 2.5."
    assert plain_text(headline(draft(answered([["a", 1.5]])))) == "Q3 2024: a; mean of x1: 1.5."
    assert plain_text(headline(draft(answered([])))) == "No row of the data matches the question."
    assert plain_text(headline(draft(answered([["a", n] for n in range(9)])))) == "The answer has 9 rows."


@pytest.mark.parametrize(
    ("name", "moment", "shown"),
    [
        ("month", "2026-09-01T00:00:00", "September 2026"),
        ("quarter", "2026-07-01T00:00:00", "quarter 3 of 2026"),
        ("year", "2026-01-01T00:00:00", "2026"),
        ("month", "2026-09-15T00:00:00", "2026-09-15"),
        ("ordered_at", "2026-09-01T00:00:00", "2026-09-01"),
        ("ordered_at", "2026-09-01T10:15:30", "2026-09-01T10:15:30"),
    ],
)
def test_a_day_or_a_period_has_no_midnight(name: str, moment: str, shown: str) -> None:
    columns = [{"name": name, "type": "datetime"}, {"name": "rows", "type": "integer"}]
    calls = answered([[moment, 5]], columns=columns)
    assert plain_text(headline(draft(calls))) == f"{name}: {shown}; rows: 5."
    assert verify_report(compose(draft(calls)).to_json(), calls).passes


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([["beech", 21.5, True], ["oak", 18.2, False]], "Yes: mean height: beech 21.5; oak 18.2."),
        ([["beech", 17.5, False], ["oak", 18.2, True]], "No: mean height: beech 17.5; oak 18.2."),
        ([["oak", 18.2, False]], "species: oak; mean height: 18.2."),
    ],
)
def test_a_comparison_of_two_groups_is_answered_by_yes_or_no(rows: list[list[Any]], sentence: str) -> None:
    columns = [
        {"name": "species", "type": "text"},
        {"name": "mean height", "type": "number"},
        {"name": "taller than the other", "type": "boolean"},
    ]
    measures = {"species": "key", "mean height": "figure", "taller than the other": "verdict"}
    calls = answered(rows, columns=columns, measures=measures)
    assert plain_text(headline(draft(calls))) == sentence
    assert verify_report(compose(draft(calls)).to_json(), calls).passes


def test_only_the_answering_node_provides_the_answer():
    calls = answered([["a", 1.5]], node="data_analysis")
    assert summarise(calls, [])["answer"] is None
    assert summarise(answered([["a", 1.5]]), [])["answer"]["rows"] == [["a", 1.5]]


def test_an_answer_by_a_program_states_that_its_rows_are_unknown():
    report = compose(draft(answered([["a", 1.5]], rows_used=None, rows_there=None)))
    assert "number of rows used is not known" in markdown.render(report.lay_out())


def test_amounts_of_an_answer_have_decimals_that_say_something_and_their_units():
    columns = [{"name": "soil", "type": "text"}, {"name": "mean of amount", "type": "number"}]
    calls = answered([["clay", 183.456789], ["loam", 12.5]], columns=columns)
    units = {"amount": {"text": "dollars", "kind": "currency", "is_known": True}}
    calls[-1].result["session"]["datasets"] = [{"name": "t", "units": units}]
    text = "mean of amount: clay 183.46 dollars; loam 12.50 dollars."
    assert plain_text(headline(draft(calls))) == text
    assert summarise(calls, [])["headline"] == text.capitalize()
    rain = [{"name": "soil", "type": "text"}, {"name": "mean rain", "type": "number"}]
    calls = answered([["clay", 521.31428], ["loam", 26912.4321], ["peat", 0.12345]], columns=rain)
    assert plain_text(headline(draft(calls))) == "mean rain: clay 521; loam 26,912; peat 0.123."


@pytest.mark.parametrize(
    ("name", "headline_of_result"), [("yield", "Yield: 5."), ("yield_t", "yield_t: 5."), ("IQ", "IQ: 5.")]
)
def test_a_headline_begins_with_a_capital_letter_or_a_name(name, headline_of_result):
    calls = answered([[5.0]], columns=[{"name": name, "type": "number"}])
    assert summarise(calls, [])["headline"] == headline_of_result
