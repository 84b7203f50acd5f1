from collections.abc import Callable
from typing import Any

import pytest

from app.recorded_call import RecordedCall
from app.reporting.advice import RULES, advise
from app.reporting.document.inline_elements import plain_text

from .conftest import altered, make_draft

Change = Callable[[dict[str, Any]], None]


def _guess(result: dict[str, Any]) -> None:
    result.update(beats_baseline=False, baseline={"accuracy": 0.78})


def _leak(result: dict[str, Any]) -> None:
    result["leaks"] = [{"column": "lifeboat", "kind": "near_copy", "text": "x", "certain": True}]


def _rare(result: dict[str, Any]) -> None:
    result["target_summary"]["classes"] = {"0": 990, "1": 10}


def _few(result: dict[str, Any]) -> None:
    result["train_rows"] = 120


def _limited(result: dict[str, Any]) -> None:
    result["candidates"][1]["limited"] = "half of the trees"


def _time(result: dict[str, Any]) -> None:
    result["problem"]["time_column"] = "day"


def _useless(result: dict[str, Any]) -> None:
    result["importances"][0] |= {"mean": 0.2, "std": 0.01, "helps": True}
    for entry in result["importances"][1:]:
        entry |= {"mean": 0.0, "std": 0.001, "helps": False}


def _segment(result: dict[str, Any]) -> None:
    worst = {"column": "sex", "text": "is male", "rows": 90, "error": 0.4, "elsewhere": 0.1}
    result["segments"]["worst"] = [{**worst, "low": 0.3, "high": 0.5}]


@pytest.mark.parametrize(
    ("rule", "tool", "change", "says"),
    [
        ("not_better_than_a_guess", "final_evaluation", _guess, "Do not use"),
        ("holdout_disagrees", "final_evaluation", lambda r: r.update(agrees_with_cv=False), "disagree"),
        ("leaking_columns", "perform_eda", _leak, "lifeboat"),
        ("rare_class", "lock_holdout", _rare, "10 training rows"),
        ("badly_calibrated", "final_evaluation", lambda r: r["calibration"].update(error=0.2), "20.0%"),
        ("few_rows", "lock_holdout", _few, "120"),
        ("useless_columns", "explain_model", _useless, "simpler model"),
        ("worst_segment", "explain_model", _segment, "where sex is male"),
        ("cut_short", "train_classification_model", _limited, "time budget"),
        ("watch_over_time", "lock_holdout", _time, "day"),
    ],
)
def test_a_finding_leads_to_its_recommendation(
    rule: str, tool: str, change: Change, says: str, titanic: list[RecordedCall]
) -> None:
    before = {each.rule for each in advise(make_draft(titanic))}
    after = {each.rule: plain_text(each.text) for each in advise(make_draft(altered(titanic, tool, change)))}

    assert rule in after
    assert says in after[rule]
    assert rule not in before or rule == "useless_columns"


def test_the_dominant_column_is_named(titanic: list[RecordedCall]) -> None:
    def change(result: dict[str, Any]) -> None:
        result["importances"] = [
            {"column": "sex", "mean": 0.3, "std": 0.01, "helps": True},
            {"column": "age", "mean": 0.1, "std": 0.01, "helps": True},
        ]

    advice = {
        each.rule: plain_text(each.text)
        for each in advise(make_draft(altered(titanic, "explain_model", change)))
    }

    assert "Monitor the quality of sex" in advice["one_column_carries_it"]


def test_a_session_without_results_gets_no_advice_on_them() -> None:
    assert advise(make_draft([])) == []


def test_rules_have_distinct_names_and_texts() -> None:
    assert len(set(RULES.values())) == len(RULES)


def test_a_column_with_a_clear_effect_is_not_called_useless(titanic: list[RecordedCall]) -> None:
    useless = altered(titanic, "explain_model", _useless)
    (before,) = [
        plain_text(each.text) for each in advise(make_draft(useless)) if each.rule == "useless_columns"
    ]
    assert "age" in before

    def list_driver(result: dict[str, Any]) -> None:
        driver = {"columns": ["age"], "grouped_by": "single", "rank": 1, "importance": 0.0, "effects": []}
        result["drivers"] = {
            "drivers": [driver | {"low": None, "high": None}],
            **{
                "leaders": 0,
                "is_first_clear": False,
                "tested": 4,
                "rows": 260,
                "holdout_rows": 260,
                "repeats": 5,
            },
        }

    (after,) = [
        plain_text(each.text)
        for each in advise(make_draft(altered(useless, "explain_model", list_driver)))
        if each.rule == "useless_columns"
    ]
    assert "age" not in after


def test_with_few_rows_no_column_is_called_useless(titanic: list[RecordedCall]) -> None:
    def change(result: dict[str, Any]) -> None:
        for entry in result["importances"]:
            entry |= {"mean": 0.05, "std": 0.04, "helps": False}

    rules = {each.rule for each in advise(make_draft(altered(titanic, "explain_model", change)))}

    assert "useless_columns" not in rules


def test_a_calibration_error_within_chance_is_not_reported(titanic: list[RecordedCall]) -> None:
    def change(result: dict[str, Any]) -> None:
        bins = [{"predicted": 0.4, "observed": 0.48, "count": 26} for _ in range(10)]
        result["calibration"] = {"bins": bins, "error": 0.08}

    rules = {each.rule for each in advise(make_draft(altered(titanic, "final_evaluation", change)))}

    assert "badly_calibrated" not in rules


def test_a_column_that_was_left_out_is_not_asked_of_new_rows(titanic: list[RecordedCall]) -> None:
    def next_step(calls: list[RecordedCall]) -> str:
        texts = [plain_text(each.text) for each in advise(make_draft(calls))]
        return next(text for text in texts if "Each row has" in text)

    def leave_out(result: dict[str, Any]) -> None:
        result["added"] = [*result["added"], {"op": "drop", "columns": ["name"]}]

    assert "name" in next_step(titanic)
    assert "name" not in next_step(altered(titanic, "clean_data", leave_out))
