from dataclasses import replace

from app.recorded_call import RecordedCall
from app.reporting import markdown
from app.reporting.compose import compose
from app.reporting.results import summarise

from .conftest import make_draft, own_call

ARTIFACTS = [
    {"id": "m0", "kind": "model", "name": "LogisticRegression"},
    {"id": "r1", "kind": "report", "name": "report.html"},
    {"id": "r2", "kind": "report", "name": "report.md"},
    {"id": "r3", "kind": "report", "name": "report.json"},
    {"id": "c1", "kind": "model_card", "name": "model_card.md"},
    {"id": "r4", "kind": "report", "name": "report.html"},
]


def test_a_result_has_the_scores_and_the_artifact_ids(titanic: list[RecordedCall]) -> None:
    last = own_call(titanic)
    last.result["checked"] = 180

    result = summarise([*titanic, last], ARTIFACTS)

    assert result["model"] == "m0"
    assert result["model_name"] == "LogisticRegression"
    assert result["report"] == {
        "artifact": "r4",
        "markdown": "r2",
        "json": "r3",
        "model_card": "c1",
        "checked_claims": 180,
    }
    assert result["metric"] == "roc_auc"
    assert result["holdout"]["low"] < result["holdout"]["value"] < result["holdout"]["high"]
    assert result["holdout"]["rows"] == result["split"]["holdout_rows"] == 263
    assert [entry["name"] for entry in result["leaderboard"] if entry["chosen"]] == ["LogisticRegression"]
    assert [entry["name"] for entry in result["leaderboard"] if entry["baseline"]] == ["baseline"]
    assert result["importances"][0]["mean"] > 0
    assert result["headline"] == result["conclusion"]["text"]
    figures = {figure["name"]: figure["text"] for figure in result["conclusion"]["figures"]}
    assert figures == {"precision_per_hundred": "71 of 100", "recall_per_hundred": "63 of 100"}


def test_a_session_without_results_has_an_empty_result() -> None:
    result = summarise([], [])

    assert (
        result["model"] is result["report"] is result["holdout"] is result["split"] is result["problem"] is None
    )
    assert result["leaderboard"] == result["importances"] == result["cautions"] == []


def test_a_report_that_was_refused_is_not_a_report(titanic: list[RecordedCall]) -> None:
    assert summarise(titanic, ARTIFACTS[:1])["report"] is None


def test_the_model_refitted_on_all_rows_is_delivered(titanic: list[RecordedCall]) -> None:
    final = next(call for call in titanic if call.tool == "final_evaluation")
    learned = {"rows": 1313, "fits": 1, "fit_s": 0.4, "model": "LogisticRegression on all rows"}
    again = replace(final, key="tool:0.2", tool="refit_model", result=learned)
    artifacts = [*ARTIFACTS, {"id": "m1", "kind": "model", "name": "LogisticRegression on all rows"}]
    calls = [*titanic, again]

    assert summarise([*calls, own_call(calls)], artifacts)["model"] == "m1"
    assert "it learned from all [1,313]" in markdown.render(compose(make_draft(calls)).lay_out())

    none = [*titanic, replace(again, result={**learned, "rows": 0})]
    assert summarise([*none, own_call(none)], artifacts)["model"] == "m0"
