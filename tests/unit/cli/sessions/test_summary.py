from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from app.cli.api_client.received_events import parse_event
from app.cli.api_client.responses import SessionDocument
from app.cli.sessions.run_session import RunResult
from app.cli.sessions.summary import document, exit_of, show
from app.cli.terminal.exit_codes import Exit

RESULT = {
    "headline": "Logistic regression tells 84% of pairs apart.",
    "metric": "roc_auc",
    "leaderboard": [{"name": "LogisticRegression", "score": 0.8522, "std": 0.0276}],
    "holdout": {"metric": "roc_auc", "value": 0.841, "low": 0.7818, "high": 0.8943, "rows": 263},
    "report": {"artifact": "a", "checked_claims": 41},
}


def ending(status: str = "completed", result: Any = RESULT, **more: Any) -> RunResult:
    session = SessionDocument(id="s1", status=status, result=result)
    return RunResult(session, 12.3, (Path("/reports/report.html"),), **more)


def test_done_is_a_completed_session_with_a_checked_report() -> None:
    assert exit_of(ending()) is Exit.DONE


@pytest.mark.parametrize("checked", [0, None])
def test_a_report_in_which_nothing_was_checked_is_not_done(checked: int | None) -> None:
    assert exit_of(ending(result={**RESULT, "report": {"checked_claims": checked}})) is Exit.FAILED


def test_a_completed_session_without_a_report_is_not_done() -> None:
    assert exit_of(RunResult(ending().session, 1.0)) is Exit.FAILED


@pytest.mark.parametrize(
    ("status", "code"),
    [("failed", Exit.FAILED), ("cancelled", Exit.CANCELLED), ("running", Exit.FAILED)],
)
def test_other_endings_have_their_own_code(status: str, code: Exit) -> None:
    assert exit_of(ending(status, result=None)) is code


QUESTION = parse_event({"kind": "clarification_asked", "question": "1.ask", "text": "?"})


def test_a_question_that_nobody_answers_has_a_code_of_its_own() -> None:
    assert (
        exit_of(
            ending(
                "awaiting_user",
                waiting=parse_event({"kind": "clarification_asked", "question": "1.ask", "text": "?"}),
            )
        )
        is Exit.WAITING
    )


def test_the_summary_names_the_score_its_interval_and_the_report() -> None:
    console = Console(record=True, width=120)
    show(ending(), console)
    shown = console.export_text()
    for words in (
        "84% of pairs",
        "LogisticRegression",
        "0.8522 ± 0.0276",
        "263 hold-out rows",
        "ROC AUC 0.8410 (95% interval",
    ):
        assert words in shown
    assert "/reports/report.html (41 numbers checked" in shown


def test_the_verdict_on_the_model_stands_below_the_headline() -> None:
    console = Console(record=True, width=120)
    verdict = {"tone": "warn", "text": "The model is not better than the baseline. Do not use it."}
    show(ending(result={**RESULT, "verdict": verdict}), console)
    assert console.export_text().splitlines()[2] == verdict["text"]


def test_the_seed_of_a_session_is_printed() -> None:
    console = Console(record=True, width=120)
    session = SessionDocument(id="s1", status="completed", result=RESULT, seed=1)  # type: ignore[arg-type]
    show(RunResult(session, 12.3, (Path("/reports/report.html"),)), console)
    assert "session s1, seed 1" in console.export_text()


@pytest.mark.parametrize(
    ("preferences", "is_told"),
    [
        ({"time_budget_s": 8}, True),
        ({"time_budget_s": 30}, False),
        ({"time_budget_s": 8, "deterministic": True}, False),
    ],
)
def test_a_budget_that_was_exceeded_is_told(preferences: dict[str, Any], is_told: bool) -> None:
    console = Console(record=True, width=200)
    document = {"id": "s1", "status": "completed", "result": RESULT, "worked_s": 31, "preferences": preferences}
    show(RunResult(SessionDocument.model_validate(document), 32.0), console)
    assert ("It took 31 s, more than its budget of 8 s" in console.export_text()) is is_told


def test_a_series_that_is_forecast_step_by_step_has_forecasts_and_not_rows() -> None:
    console = Console(record=True, width=120)
    show(ending(result={**RESULT, "problem": {"horizon": 7, "every_step": True}}), console)
    assert "On 263 hold-out forecasts:" in console.export_text()


def test_candidates_that_the_report_folds_are_counted_and_not_listed() -> None:
    board: list[Any] = [{"name": f"C{place}", "score": 0.8, "collapsed": 2 <= place < 5} for place in range(7)]
    console = Console(record=True, width=120)
    show(ending(result={**RESULT, "leaderboard": board}), console)
    shown = console.export_text()
    assert [name for name in ("C0", "C1", "C2", "C3", "C4", "C5", "C6") if name in shown] == [
        "C0",
        "C1",
        "C5",
        "C6",
    ]
    assert "And 3 more within noise of the best" in shown


def test_of_many_trials_the_best_of_each_family_the_chosen_one_and_the_baseline_are_listed() -> None:
    trials = [{"name": f"Ridge-t{place}", "score": 0.8, "chosen": place == 14} for place in range(15)]
    board: list[Any] = [
        *trials,
        {"name": "LightGBM"},
        {"name": "Ridge"},
        {"name": "Network", "collapsed": True},
    ]
    board.append({"name": "baseline", "score": 0.5, "baseline": True})
    console = Console(record=True, width=120)
    show(ending(result={**RESULT, "leaderboard": board}), console)
    shown = console.export_text()
    lines = [line.split() for line in shown.splitlines()]
    listed = [line[1] for line in lines if line and line[0].isdigit() and line[1] != "s,"]
    assert listed == [*(f"Ridge-t{place}" for place in range(5)), "Ridge-t14", "LightGBM", "baseline"]
    assert "And 11 more, 1 of them within noise of the best, which the report lists." in shown


def test_conditions_without_a_figure_are_printed_too() -> None:
    console = Console(record=True, width=120)
    show(ending(result={**RESULT, "conditions": ["What new shops change was not measured."]}), console)
    assert "  - What new shops change was not measured." in console.export_text()


def test_the_score_of_a_forecast_names_the_methods_that_make_it() -> None:
    console = Console(record=True, width=120)
    problem = {"horizon": 7, "every_step": True}
    show(ending(result={**RESULT, "problem": problem, "forecaster": "best classical methods"}), console)
    assert "On 263 hold-out forecasts, best classical methods: ROC AUC" in console.export_text()


@pytest.mark.parametrize(("folds", "validation"), [(1, "on one validation fold"), (5, "cross-validated")])
def test_the_heading_of_the_scores_tells_how_they_were_validated(folds: int, validation: str) -> None:
    console = Console(record=True, width=120)
    board = [{"name": "Ridge", "score": 0.8, "folds": folds, "fold_count": 5}]
    show(ending(result={**RESULT, "leaderboard": board}), console)
    assert f"ROC AUC, {validation}" in console.export_text()


def test_the_chosen_candidate_and_the_share_of_one_that_was_cut_are_marked() -> None:
    board = [
        {"name": "Ensemble", "score": 0.8, "chosen": True},
        {"name": "LightGBM", "compared": False, "cut": True, "weight": 0.4},
        {"name": "Ridge", "compared": False, "cut": True},
    ]
    console = Console(record=True, width=120)
    show(ending(result={**RESULT, "leaderboard": board, "forecaster": "best classical methods"}), console)
    lines = [" ".join(line.split()) for line in console.export_text().splitlines()]
    assert "1 Ensemble (chosen) 0.8000" in lines
    assert "LightGBM cut by its time: not compared, but 40% of the ensemble" in lines
    assert "Ridge cut by its time: not compared" in lines
    assert "best classical methods make the forecast: better on the hold-out" in lines


def test_large_scores_are_shown_without_digits_that_say_nothing() -> None:
    board = [
        {"name": "Ridge", "score": 9516.05, "std": 699.815},
        {"name": "baseline", "score": 69368.3, "std": 4955.54},
    ]
    held = {"metric": "rmse", "value": 10512.9, "low": 9023.23, "high": 11879.4, "rows": 80}
    console = Console(record=True, width=120)
    show(ending(result={**RESULT, "metric": "rmse", "leaderboard": board, "holdout": held}), console)
    shown = console.export_text()
    for words in ("9,516 ± 700", "69,368 ± 4,956", "RMSE 10,513 (95% interval 9,023 to 11,879)"):
        assert words in shown


def test_json_says_what_programs_need() -> None:
    told = document(ending())
    assert told["status"] == "completed"
    assert told["report"] == "/reports/report.html"
    assert told["result"] == RESULT


def answered(columns: list[tuple[str, str]], rows: list[list[Any]]) -> str:
    """The summary of an answer, as the terminal shows it."""
    answer = {
        "columns": [{"name": name, "type": type_} for name, type_ in columns],
        "rows": rows,
        "row_count": len(rows),
        "code": "SELECT 1",
    }
    console = Console(record=True, width=120)
    show(ending(result={**RESULT, "leaderboard": [], "holdout": None, "answer": answer}), console)
    return console.export_text()


def test_an_answer_of_labels_and_numbers_is_drawn_as_bars() -> None:
    shown = answered([("sex", "text"), ("age", "number")], [["f", 28.0], ["[bold]m\x1b", 31.5], ["?", 7]])
    assert "  f │███" in shown
    assert "[bold]m\N{REPLACEMENT CHARACTER} │" in shown
    assert "\x1b" not in shown


def test_an_answer_over_time_is_drawn_as_a_curve() -> None:
    shown = answered([("month", "datetime"), ("total", "integer")], [[f"2024-0{m}-01", m] for m in range(1, 7)])
    assert "6 │     █" in shown
    assert "2024-01-01 2024-06-01" in shown


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        ([("sex", "text"), ("age", "number")], [["f", 28.0], ["m", 31.5]]),
        ([("sex", "text"), ("town", "text")], [["f", "a"], ["m", "b"], ["?", "c"]]),
        ([("a", "text"), ("b", "number"), ("c", "number")], [["f", 1, 2]] * 4),
    ],
)
def test_other_answers_are_tables_alone(columns: list[tuple[str, str]], rows: list[list[Any]]) -> None:
    assert "│" not in answered(columns, rows)


def forecast(periods: list[str], series: tuple[str | None, ...] = (None,)) -> str:
    bounds = {"low": 9.0, "high": 90.5}
    figures = [
        {"name": "forecast", "value": 10.0 * n, "text": f"{10 * n}", "period": period, "series": name} | bounds
        for name in series
        for n, period in enumerate(periods, 1)
    ]
    result = {**RESULT, "conclusion": {"figures": figures}}
    session = SessionDocument(id="s1", status="completed", result=result)
    console = Console(record=True, width=100)
    show(RunResult(session, 1.0, (Path("/reports/report.html"), Path("/reports/forecasts.csv"))), console)
    return console.export_text()


def test_forecasts_are_a_table_and_a_curve_and_name_the_file_of_all() -> None:
    text = forecast(["1 May", "2 May", "3 May"])
    assert ["2", "May", "20", "9.00", "90.50"] in [line.split() for line in text.splitlines()]
    assert "30 │  █" in text
    assert "All forecasts: /reports/forecasts.csv" in text


def test_forecasts_of_several_series_are_no_curve() -> None:
    text = forecast([f"{day} May" for day in range(1, 15)], ("North", "South", "Harbour"))
    lines = [line.split() for line in text.splitlines()]
    assert ["Period", "North", "South", "Harbour"] in lines
    assert ["14", "May", *["140", "(9.0", "to", "90.5)"] * 3] in lines
    assert "│" not in text


def test_the_options_of_an_open_question_are_numbered_as_they_are_answered() -> None:
    asked = {"kind": "clarification_asked", "question": "1.ask", "text": "?", "options": ["one", "other"]}
    console = Console(record=True, width=100)
    show(ending("awaiting_user", waiting=parse_event(asked)), console)
    text = console.export_text()
    assert "  2. other" in text
    assert "labcrew answer s1 1" in text
    assert "POST" not in text


def test_a_plan_to_approve_stands_below_what_it_is_for() -> None:
    about = {"understood": {"text": "I will predict `kids`.", "confidence": 0.8}}
    asked = {"kind": "clarification_asked", "agent": "planner", "text": "?", "about": about, "question": "1"}
    console = Console(record=True, width=100)
    show(ending("awaiting_user", waiting=parse_event(asked)), console)
    assert "Understood: I will predict `kids`.\nThe planner asks: ?" in console.export_text()
