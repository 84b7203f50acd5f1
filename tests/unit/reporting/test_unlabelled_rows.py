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
