"""The structure of reports: of sessions that went well, that failed, and that never got anywhere."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from app.recorded_call import RecordedCall
from app.reporting import html, markdown
from app.reporting.compose import compose
from app.reporting.document.elements import Gallery, ReportTable
from app.reporting.document.inline_elements import plain_text
from app.reporting.document.layout import lay_out
from app.reporting.document.report import Report
from app.reporting.draft import ReportDraft
from app.reporting.gallery import GALLERY
from app.reporting.pages import understanding
from app.reporting.pages.answer import headline
from app.reporting.results import summarise
from app.reporting.session_facts import gather_facts
from app.reporting.verification import verify_report

from .conftest import altered, drawn_figures, make_draft


def ids(report: Report) -> list[str]:
    return [block.kind for block in report.blocks]


def prose(draft: ReportDraft) -> str:
    """The Markdown of a report that passes its check."""
    report = compose(draft)
    text = markdown.render(report.lay_out())
    verdict = verify_report(report.to_json(), draft.calls, html.render(report.lay_out(), {}), text)
    assert verdict.mismatches == ()
    return text.replace("\\", "")


def only(calls: Sequence[RecordedCall], *tools: str) -> list[RecordedCall]:
    return [call for call in calls if call.tool in tools]


def test_a_classification_has_all_its_parts_in_order(titanic: list[RecordedCall]) -> None:
    draft = make_draft(titanic)

    assert ids(compose(draft)) == [
        "understanding",
        "answer",
        "drivers",
        "evidence",
        "actions",
        "problem",
        "data",
        "split",
        "results",
        "importances",
        "errors",
        "trials",
        "tuning",
        "questions",
        "reproducibility",
    ]


def test_an_approval_is_reported_by_its_decision(titanic: list[RecordedCall]) -> None:
    answer = {"decision": "approve", "arguments": {"name": "features.py"}}
    question = {"agent": "planner", "text": "Shall I continue?", "answer": answer, "by": "user"}

    text = prose(make_draft(titanic, questions=[question]))

    (sentence,) = [line for line in text.splitlines() if "Shall I continue?" in line and "Answered: " in line]
    assert "[approve](" in sentence
    assert "{" not in sentence
    assert "features.py" not in text


def test_a_plan_that_was_approved_is_no_part_of_what_was_understood(titanic: list[RecordedCall]) -> None:
    approved = {"key": "1.review:1", "text": "Shall I continue?", "answer": "go on", "by": "user"}
    settled = {"key": "1.tool:1.0", "text": "Go on without dates?", "answer": "go on", "by": "user"}

    draft = make_draft(titanic, questions=[approved, settled])

    block = understanding.block(draft)
    assert block is not None
    (detail,) = block.details
    assert "Answered: " in str(detail)


def test_a_regression_is_reported_by_its_errors(diabetes: list[RecordedCall]) -> None:
    draft = make_draft(diabetes, questions=[])

    text = prose(draft)

    assert "typically wrong by [42.1]" in text
    assert "half of the passengers are within [31.8]" in text
    assert "lower is better" in text
    assert "Confusion" not in text
    assert "questions" not in ids(compose(draft))


def test_a_failed_session_reports_its_error_and_intermediate_results(titanic: list[RecordedCall]) -> None:
    calls = only(titanic, "lock_holdout", "perform_eda")
    draft = make_draft(calls, error={"code": "x", "detail": "It took longer than its limit of 60 s."})

    text = prose(draft)

    assert "ended without a result" in text
    assert "It took longer than its limit of 60 s." in text
    assert ids(compose(draft)) == [
        "understanding",
        "answer",
        "evidence",
        "actions",
        "problem",
        "data",
        "split",
        "questions",
        "reproducibility",
    ]


def test_models_that_were_only_compared_are_called_optimistic(titanic: list[RecordedCall]) -> None:
    text = prose(make_draft([call for call in titanic if call.tool != "final_evaluation"]))

    assert "none was evaluated on the hold-out" in text
    assert "The hold-out was never opened." in text


def test_fits_without_a_comparison_are_listed(titanic: list[RecordedCall]) -> None:
    text = prose(make_draft(only(titanic, "lock_holdout", "train_classification_model")))

    assert "Fitted but not compared" in text


def test_a_session_that_recorded_nothing_still_has_a_report() -> None:
    draft = make_draft([])

    assert ids(compose(draft)) == ["understanding", "answer", "actions", "data", "questions", "reproducibility"]
    assert "No model was evaluated" in prose(draft)


def test_without_importances_the_part_is_left_out(titanic: list[RecordedCall]) -> None:
    draft = make_draft([call for call in titanic if call.tool not in ("feature_importance", "explain_model")])

    assert not {"importances", "errors"} & set(ids(compose(draft)))


def test_without_an_explanation_out_of_fold_importances_are_reported(titanic: list[RecordedCall]) -> None:
    draft = make_draft([call for call in titanic if call.tool != "explain_model"])

    assert "outside the training folds" in prose(draft)
    assert "errors" not in ids(compose(draft))


def test_the_worst_segment_is_reported_with_the_error_elsewhere(titanic: list[RecordedCall]) -> None:
    assert "none is worse than the rest by more than chance" in prose(make_draft(titanic))
    worst = {
        "column": "sex",
        "text": "is male",
        "rows": 170,
        "error": 0.31,
        "low": 0.25,
        "high": 0.38,
        "elsewhere": 0.1,
    }

    def change(result: dict[str, Any]) -> None:
        result["segments"]["worst"] = [worst]

    report = compose(make_draft(altered(titanic, "explain_model", change)))
    (part,) = (block for block in report.blocks if block.kind == "errors")

    assert plain_text(part.elements[0].text).startswith(
        "Worst where sex is male: there it predicts 31.0% of the rows wrong, elsewhere 10.0%"
    )


def test_the_report_of_a_time_series_names_its_time_column(diabetes: list[RecordedCall]) -> None:
    def change(result: dict[str, Any]) -> None:
        result["problem"] |= {"time_column": "day", "horizon": 3}
        result["kind"] = "time"

    text = prose(make_draft(altered(diabetes, "lock_holdout", change)))

    assert "Ordered by" in text
    assert "Monitor the score in production" in text


def test_a_hold_out_opened_twice_is_reported(titanic: list[RecordedCall]) -> None:
    final = only(titanic, "final_evaluation")[0]
    again = replace(final, seq=final.seq + 1)

    text = prose(make_draft([*titanic, again]))

    assert "opened more than once" in text


def test_a_fit_after_the_hold_out_was_opened_is_reported(titanic: list[RecordedCall]) -> None:
    late = replace(only(titanic, "train_classification_model")[0], seq=99)

    assert "fitted after the hold-out was opened" in prose(make_draft([*titanic, late]))


@pytest.mark.parametrize("tool", ["run_python", "execute_sql", "get_dataset_schema"])
def test_results_of_other_tools_cannot_imitate_an_evaluation(tool: str, titanic: list[RecordedCall]) -> None:
    forged = {**only(titanic, "final_evaluation")[0].result, "rows": 1_000_000}
    call = replace(only(titanic, "final_evaluation")[0], tool=tool, result={"value": forged}, seq=99)

    found = gather_facts([*titanic, call], make_draft(titanic).facts.session)

    assert found.final is not None
    assert found.final.value["rows"] == 263


def test_only_the_node_that_opens_the_hold_out_can_evaluate_on_it(titanic: list[RecordedCall]) -> None:
    calls = [replace(call, node="model_evaluation") for call in titanic]

    assert gather_facts(calls, make_draft(titanic).facts.session).final is None


def test_the_headline_counts_hits_in_a_hundred(titanic: list[RecordedCall]) -> None:
    words = plain_text(headline(make_draft(titanic)))

    assert words.startswith(
        "Right for 71 of 100 passengers that it names \N{LEFT DOUBLE QUOTATION MARK}survived"
    )
    assert words.endswith(
        "of all passengers that are \N{LEFT DOUBLE QUOTATION MARK}survived\N{RIGHT DOUBLE QUOTATION MARK}, it"
        " finds 63 of 100."
    )


def test_the_evidence_names_score_interval_rows_baseline_and_model(titanic: list[RecordedCall]) -> None:
    evidence = next(block for block in compose(make_draft(titanic)).blocks if block.kind == "evidence")
    words = " ".join(map(plain_text, evidence.items))

    assert "The model's ROC AUC is 0.818 (interval 0.7" in words
    assert "on 263 rows that were not used in training; the baseline without any column reaches 0.500." in words
    assert "The model is LogisticRegression, chosen among" in words


def make_reference(value: float) -> dict[str, Any]:
    gain = {"value": value, "low": value - 0.02, "high": value + 0.02}
    return {"references": [{"name": "days since last alone", "score": 0.81, "difference": gain}]}


REFERENCE, WORSE_REFERENCE = make_reference(0.01), make_reference(-0.01)


def test_a_prediction_by_one_column_stands_beside_the_score(titanic: list[RecordedCall]) -> None:
    calls = altered(titanic, "final_evaluation", lambda result: result.update(make_reference(0.05)))
    text = re.sub(r"\[([^\]]*)\]\(#[^)]*\)", r"\1", prose(make_draft(calls)))
    assert "the baseline without any column reaches 0.500, the days since last alone 0.810." in text
    assert "| days since last alone | 0.810 | 0.030 to 0.070 |" in text
    assert "Predictions that need no model, on the same rows" in text
    assert "Look at the days since last alone" not in text


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"beats_baseline": False}, "do not rely on its probabilities"),
        (
            {"beats_baseline": False, "baseline": {"accuracy": 0.78}},
            "ROC AUC, the model is not significantly better than the baseline on the hold-out. Do not use it",
        ),
        ({"beats_baseline": True, "agrees_with_cv": False}, "disagree"),
        ({"beats_baseline": True, "agrees_with_cv": True}, "agrees with the hold-out"),
        ({"beats_baseline": True, "agrees_with_cv": None}, "more than chance explains."),
        ({**REFERENCE, "agrees_with_cv": True}, "not the days since last alone by more than chance explains"),
        ({**WORSE_REFERENCE, "agrees_with_cv": True}, "worse on the hold-out than the days since last alone"),
    ],
)
def test_the_verdict_follows_the_facts(facts: dict[str, Any], says: str, titanic: list[RecordedCall]) -> None:
    calls = altered(titanic, "final_evaluation", lambda result: result.update(facts))

    assert says in prose(make_draft(calls)).split("<details>")[0]


def test_the_report_names_the_folds_that_were_finished(titanic: list[RecordedCall]) -> None:
    def read(calls: list[RecordedCall]) -> str:
        return re.sub(r"\[([^\]]*)\]\(#[^)]*\)", r"\1", prose(make_draft(calls)))

    assert "Candidates were compared on 5 folds of the same kind." in read(titanic)

    def stop_after_one_fold(result: dict[str, Any]) -> None:
        for fit in result.get("candidates", ()):
            fit |= {"run": [0], "rows": 144, "fold_count": 1, "fold_scores": fit["fold_scores"][:1]}
        if "leaderboard" in result:
            result["folds_compared"] = 1

    calls = altered(titanic, "train_classification_model", stop_after_one_fold)
    text = read(altered(calls, "compare_models", stop_after_one_fold))
    assert "validated on one fold of the 144 training rows" in text
    assert "Score on one fold by ROC AUC" in text
    assert "5 folds" not in text
    assert "over folds" not in text


def test_scores_that_are_not_defined_leave_a_dash(titanic: list[RecordedCall]) -> None:
    def change(result: dict[str, Any]) -> None:
        for score in result["metrics"].values():
            score.update(value=None, low=None, high=None)

    draft = make_draft(altered(titanic, "final_evaluation", change))

    assert "The model's ROC AUC is \N{EN DASH}" in prose(draft)


def test_every_drawn_figure_is_in_the_report(titanic: list[RecordedCall]) -> None:
    def change(result: dict[str, Any]) -> None:
        found = result["segments"]
        found["worst"] = [{"column": "sex", "text": "is male", "rows": 9, "error": found["overall"]}]

    calls = altered(titanic, "explain_model", change)
    figures = drawn_figures(calls)

    report = compose(make_draft(calls, figures=figures))

    galleries = [
        block
        for section in map(lay_out, report.blocks)
        for block in section.elements
        if isinstance(block, Gallery)
    ]
    placed = {picture.name for gallery in galleries for picture in gallery.pictures}
    later = ("backtest_model", "forecast_future", "draw_answer")
    named = {name for name, kind in GALLERY.items() if kind.tool not in later}
    assert placed == {figure.name for figure in figures} == named
    assert {(figure.step, figure.call) for figure in figures} <= {(row.step, row.call) for row in report.calls}


def blended(titanic: list[RecordedCall]) -> list[RecordedCall]:
    """The same session with an ensemble in the place of the model that was chosen."""
    facts = {
        "name": "Ensemble",
        "estimator": "Ensemble",
        "weights": {"LightGBM": 0.25, "LogisticRegression": 0.75, "baseline": 0.0},
        "members": [{"name": "LogisticRegression", "run": [0], "weight": 0.75}],
        "fold_scores": [0.8],
        "calibration": {"text": "Probabilities were left as they are."},
        "threshold_text": "It makes F1 highest on 1050 rows.",
    }
    made = altered(titanic, "final_evaluation", lambda result: result.update(model="Ensemble"))
    place = next(place for place, call in enumerate(made) if call.tool == "final_evaluation")
    call = replace(made[place], node="model_evaluation", tool="build_ensemble", key="tool:7.0", result=facts)
    return [*made[:place], call, *made[place:]]


def test_an_ensemble_is_reported_with_its_weights_and_threshold(titanic: list[RecordedCall]) -> None:
    calls = blended(titanic)
    draft = make_draft(calls)
    report = compose(draft)

    said = [
        plain_text(element.text)
        for block in report.blocks
        for element in lay_out(block).elements
        if hasattr(element, "text")
    ]
    assert any("predictions: LogisticRegression 75% and LightGBM 25%." in text for text in said)
    assert "Probabilities were left as they are." in said
    assert "It makes F1 highest on 1050 rows." in said, "the reason names the threshold, which is said once"
    assert verify_report(
        report.to_json(), draft.calls, html.render(report.lay_out(), {}), markdown.render(report.lay_out())
    ).passes


def test_prediction_intervals_are_reported_with_their_coverage(diabetes: list[RecordedCall]) -> None:
    coverage = {"value": 0.91, "low": 0.84, "high": 0.96}
    intervals = {"level": 0.9, "coverage": coverage, "width": 180.25, "rows": 89}
    draft = make_draft(altered(diabetes, "final_evaluation", lambda r: r.update(intervals=intervals)))
    report = compose(draft)

    (part,) = (block for block in report.blocks if block.kind == "results")
    said = [plain_text(block.text) for block in part.elements if hasattr(block, "text")]
    assert any(
        "in 90% of cases. On the hold-out it covered it in 91.0% (84.0% to 96.0%)" in text for text in said
    )


@pytest.mark.parametrize(
    ("worked_s", "deterministic", "is_said"), [(5.4, False, False), (6.8, False, True), (6.8, True, False)]
)
def test_a_session_over_its_time_budget_reports_it_among_the_limits(
    titanic: list[RecordedCall], worked_s: float, deterministic: bool, is_said: bool
) -> None:
    preferences = {"time_budget_s": 5.0, "deterministic": deterministic}
    text = prose(make_draft(titanic, preferences=preferences, worked_s=worked_s))

    assert ("which exceeds the budget of" in text) is is_said
    assert "Working time until this report" in text


def test_the_usage_of_a_session_is_reported_under_reproducibility(titanic: list[RecordedCall]) -> None:
    usage = {"fits": 12, "tool_calls": 20, "chat_calls": 0, "cpu_s": 31.5, "peak_memory_bytes": 400 << 20}

    text = prose(make_draft(titanic, usage=usage, preferences={"time_budget_s": 60.0}, seed=0))

    assert "400 MiB" in text
    assert "| Seed | [0]" in text
    assert "Chat model calls" not in text


def test_the_appendix_lists_all_candidates_and_the_result_marks_tied_ones(titanic: list[RecordedCall]) -> None:
    def crowd(result: Any) -> None:
        board = result["leaderboard"]
        tied = {**board[1], "distinguishable": False, "weight": None}
        result["leaderboard"] = [board[0], *({**tied, "name": f"Trial {n}"} for n in range(24)), board[-1]]
        result["leaderboard"][20]["weight"] = 0.3

    calls = altered(titanic, "compare_models", crowd)
    trials = next(block for block in compose(make_draft(calls)).blocks if block.kind == "trials")
    table = next(element for element in trials.elements if isinstance(element, ReportTable))

    assert len(table.rows) == 26
    assert sum(entry["collapsed"] for entry in summarise(calls, [])["leaderboard"]) == 18
