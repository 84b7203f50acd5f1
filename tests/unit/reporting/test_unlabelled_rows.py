"""The report and the result name the predictions of the rows without a target."""

import re
from dataclasses import replace

import pytest

from app.recorded_call import RecordedCall
from app.reporting import markdown
from app.reporting.compose import compose
from app.reporting.results import summarise
from app.reporting.verification import verify_report

from .conftest import make_draft


def with_predictions(calls: list[RecordedCall], rows: int, unlabelled: int) -> list[RecordedCall]:
    last = next(call for call in reversed(calls) if call.tool == "final_evaluation")
    result = {"rows": rows, "unlabelled": unlabelled, "file": "predictions.csv"}
    call = replace(last, key="tool:0.5", tool="predict_unlabelled", result=result)
    place = calls.index(last) + 1
    return [*calls[:place], call, *calls[place:]]


@pytest.mark.parametrize(
    ("rows", "unlabelled", "sentence"),
    [
        (1, 1, "1 row without a value of survived is predicted in `predictions.csv`."),
        (1_200, 1_200, "1,200 rows without a value of survived are predicted in `predictions.csv`."),
        (
            1_200,
            5_000,
            "1,200 of the 5,000 rows without a value of survived are predicted in `predictions.csv`.",
        ),
        (0, 0, None),
    ],
)
def test_the_file_is_named_with_its_rows(
    rows: int, unlabelled: int, sentence: str | None, titanic: list[RecordedCall]
) -> None:
    calls = with_predictions(titanic, rows, unlabelled)
    draft = make_draft(calls)
    report = compose(draft)
    text = markdown.render(report.lay_out())
    assert verify_report(report.to_json(), draft.calls, markdown=text).passes
    plain = re.sub(r"\[([^\]]*)\]\(#[^)]*\)", r"\1", text).replace("\\", "")
    assert sentence in plain if sentence else "predictions.csv" not in plain
    assert (summarise(calls, [])["unlabelled"] is not None) == bool(rows)


def test_a_ranking_names_its_persons_and_who_comes_first(titanic: list[RecordedCall]) -> None:
    first = [{"name": "C17", "value": 0.918}, {"name": "C4", "value": 0.871}]
    calls = [
        replace(call, result={**call.result, "first": first}) if call.tool == "predict_unlabelled" else call
        for call in with_predictions(titanic, 380, 380)
    ]
    calls = [
        replace(call, result={**call.result, "row_noun": "clients"}) if call.tool == "lock_holdout" else call
        for call in calls
    ]
    draft = make_draft(calls)
    report = compose(draft)
    text = markdown.render(report.lay_out())
    assert verify_report(report.to_json(), draft.calls, markdown=text).passes
    plain = re.sub(r"\[([^\]]*)\]\(#[^)]*\)", r"\1", text).replace("\\", "")
    assert (
        "The 380 clients of the end of the data are ranked in `predictions.csv`. First come C17 (92%) and C4"
        " (87%)." in plain
    )
    assert "263 clients whose outcomes were not used in training" in plain
    assert "Right for 71 of 100 clients" in plain
    assert "run the session again with the newer file" in plain
    assert "predict endpoint" not in plain
