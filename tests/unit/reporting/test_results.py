from dataclasses import replace
from typing import Any

from app.recorded_call import RecordedCall
from app.reporting import markdown
from app.reporting.advice import advise
from app.reporting.compose import compose
from app.reporting.document.inline_elements import plain_text
from app.reporting.results import summarise

from .conftest import altered, make_draft, own_call

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


def test_a_result_says_how_often_the_hold_out_was_opened(titanic: list[RecordedCall]) -> None:
    final = next(call for call in titanic if call.tool == "final_evaluation")
    once = summarise(titanic, ARTIFACTS)
    assert (once["holdout"]["openings"], once["holdout"]["looks"], once["cautions"]) == (1, 1, [])

    again = summarise([*titanic, replace(final, seq=final.seq + 1, key="tool:0.9")], ARTIFACTS)
    assert again["holdout"]["openings"] == 2
    assert "the hold-out was opened more than once" in again["cautions"][0]

    family = {"looks": 3, "level": 0.98, "forks_after_look": 1, "siblings": []}
    third = altered(titanic, "final_evaluation", lambda result: result.update(family=family))
    assert summarise(third, ARTIFACTS)["holdout"]["looks"] == 3


def test_a_result_has_the_conditions_of_its_score_and_the_notes_on_its_files(
    titanic: list[RecordedCall],
) -> None:
    condition = {
        "kind": "entities",
        "columns": ["storm"],
        "question": "Will new rows be of known storms?",
        "why": "storm repeats",
        "metric": "mae",
        "holds_score": 2.9,
        "otherwise_score": 6.3,
        "matters": True,
        "chosen": "holds",
    }
    calls = altered(titanic, "perform_eda", lambda result: result.update(assumptions=[condition]))
    note = "Rows that are none of the table are left out: 10 empty."
    datasets = [{"name": "storms", "rows": 300, "columns": 4, "digest": "ab", "notes": [note]}]

    result = summarise([*calls, own_call(calls, datasets=datasets)], ARTIFACTS)

    assert result["file_notes"] == [note]
    (sentence,) = result["conditions"]
    assert "2.9" in sentence
    assert "6.3" in sentence
    assert sentence.endswith("for new ones.")
    # The metric of the condition is not that of the session.
    assert result["assumptions"][0]["expected"] is None


def test_a_condition_has_the_expected_score_of_the_delivered_model(titanic: list[RecordedCall]) -> None:
    holdout = summarise([*titanic, own_call(titanic)], ARTIFACTS)["holdout"]
    condition = {
        "kind": "entities",
        "columns": ["family"],
        "question": "Will new rows be of known families?",
        "why": "family repeats",
        "metric": holdout["metric"],
        "holds_score": 0.9,
        "otherwise_score": 0.7,
        "interval": {"low": 0.1, "high": 0.3},
        "matters": True,
        "chosen": "otherwise",
    }
    calls = altered(titanic, "perform_eda", lambda result: result.update(assumptions=[condition]))
    expected = summarise([*calls, own_call(calls)], ARTIFACTS)["assumptions"][0]["expected"]
    assert holdout["value"] < expected["value"] < 1
    assert expected["low"] < expected["value"] < expected["high"]


def test_a_headline_begins_with_the_verdict_that_forbids_its_model(
    titanic: list[RecordedCall], diabetes: list[RecordedCall]
) -> None:
    worse = {"beats_baseline": False, "baseline": {"accuracy": 0.78}}
    for calls, opening in (
        (titanic, "No usable model: not better than naming the commonest class. Right for 71 of 100"),
        (diabetes, "No usable model: not better than answering with the average. Predictions of"),
    ):
        refuted = [*altered(calls, "final_evaluation", lambda result: result.update(worse))]
        result = summarise([*refuted, own_call(refuted)], ARTIFACTS)
        assert result["headline"].startswith(opening)
        assert result["verdict"]["tone"] == "warn"
        assert "Do not use it" in result["verdict"]["text"]
    good = summarise([*titanic, own_call(titanic)], ARTIFACTS)
    assert good["headline"].startswith("Right for 71 of 100")
    assert good["verdict"]["opening"] == ""


def test_predictions_without_a_model_are_data(titanic: list[RecordedCall]) -> None:
    gain = {"value": 0.05, "low": -0.01, "high": 0.11}
    reference = {"name": "days since last alone", "score": 0.77, "difference": gain}
    calls = altered(titanic, "final_evaluation", lambda result: result.update(references=[reference]))
    result = summarise([*calls, own_call(calls)], ARTIFACTS)
    assert result["references"] == [
        {"name": "days since last alone", "score": 0.77, **gain, "is_beaten": False},
    ]
    assert result["verdict"]["tone"] == "warn"


def test_a_headline_tells_that_the_baseline_ranks_first(titanic: list[RecordedCall]) -> None:
    def promote(result: dict[str, Any]) -> None:
        result["leaderboard"].sort(key=lambda entry: entry["name"] != "baseline")

    calls = altered(titanic, "compare_models", promote)
    headline = summarise([*calls, own_call(calls)], ARTIFACTS)["headline"]
    assert headline.startswith("In cross-validation the baseline was better than every model. Right for 71")


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


def test_a_suspicion_without_a_figure_is_a_condition_of_the_result(titanic: list[RecordedCall]) -> None:
    note = "'fare' alone tells nearly all of 'survived'. What the score is without it was not measured."
    calls = altered(titanic, "perform_eda", lambda result: result.update(notes=[note]))
    assert note in summarise(calls, [])["conditions"]
    assert "What the score is without it was not measured" in markdown.render(
        compose(make_draft(calls)).lay_out()
    ).replace("\\", "")


def test_the_chosen_candidate_is_no_alternative_to_itself(titanic: list[RecordedCall]) -> None:
    def tie_all(result: dict[str, Any]) -> None:
        for place, entry in enumerate(result.get("leaderboard", ())):
            entry.update(distinguishable=False, difference=0.001 * place)

    calls = altered(titanic, "compare_models", tie_all)
    [advice] = [entry for entry in advise(make_draft(calls)) if entry.rule == "no_real_winner"]
    assert "LogisticRegression, " not in plain_text(advice.text)
    assert "LogisticRegression-t1, " in plain_text(advice.text)
