"""The suite of series: origins of forecasts, references, and the evaluation of a task."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.quality.series.forecasts import list_origins, read_values, true_values
from benchmarks.quality.series.outcomes import MAX_RATIO, Outcome, evaluate_task, summarise
from benchmarks.quality.series.prepare import add_up_periods, prepare
from benchmarks.quality.series.references import LAST_VALUE, SMOOTHING, make_references
from benchmarks.quality.series.results_page import render_results_page
from benchmarks.quality.series.tasks.registry import TASKS, is_held_out
from benchmarks.quality.series.tasks.task import SeriesTask
from benchmarks.quality.strangers.eligibility import TUNING_TABLES, is_in_eligible_half

MIN_SERIES, MIN_TRANSACTIONS = 25, 10


def test_the_suite_has_series_and_transactions_of_days_to_years_of_usable_tables() -> None:
    transactions = [task for task in TASKS.values() if task.measure]
    assert len(transactions) >= MIN_TRANSACTIONS
    assert len(TASKS) - len(transactions) >= MIN_SERIES
    assert {task.every for task in TASKS.values()} == {"day", "weekday", "week", "month", "quarter", "year"}
    assert sum(task.series is not None for task in TASKS.values()) >= 5
    keys = {task.source for task in TASKS.values() if "/" in task.source}
    assert all(is_in_eligible_half(key) for key in keys)
    assert not keys & TUNING_TABLES


def test_about_a_third_of_the_tasks_is_held_out() -> None:
    held_out = sum(map(is_held_out, TASKS))
    assert len(TASKS) / 4 <= held_out <= len(TASKS) * 0.45


def task(**changes: Any) -> SeriesTask:
    dates = pd.date_range("2020-01-01", periods=90).strftime("%Y-%m-%d")
    rows = pd.DataFrame({"date": dates, "amount": np.arange(90.0)})
    defaults: dict[str, Any] = {
        "every": "day",
        "horizon": 7,
        "goal": "Forecast.",
        "series": None,
        "measure": None,
    }
    return SeriesTask(
        **{
            "name": "t",
            "source": "s",
            "load": lambda: rows,
            "time": "date",
            "target": "amount",
            **defaults,
            **changes,
        }
    )


def read_task(folder: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    return read_values(folder), json.loads((folder / "task.json").read_text())


def test_the_crew_is_given_the_first_two_thirds_of_the_time(tmp_path: Path) -> None:
    prepare(task(), tmp_path)
    values, facts = read_task(tmp_path)
    train = pd.read_csv(tmp_path / "train.csv")
    assert (len(train), len(values)) == (60, 90)
    origins = list_origins(facts)
    assert origins[0] == 60
    assert origins[-1] + facts["horizon"] <= 90
    assert true_values(values, facts)[0, 0].tolist() == list(range(60, 67))


def test_transactions_are_added_up_by_complete_periods(tmp_path: Path) -> None:
    rows = pd.DataFrame(
        {
            # 2 January 2023 is a Monday; the first week is not complete, and the second has no row of `b`.
            "date": ["2023-01-01", "2023-01-02", "2023-01-08", "2023-01-10", "2023-01-17", "2023-01-24"],
            "shop": ["a", "a", "a", "b", "a", "b"],
            "amount": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        }
    )
    table = add_up_periods(rows, task(every="week", series="shop", measure="sum"))
    assert table.index.tolist() == ["2023-01-02", "2023-01-09", "2023-01-16"]
    assert table["a"].tolist() == [5.0, 0.0, 5.0]
    assert table["b"].tolist() == [0.0, 4.0, 0.0]


def test_references_are_the_last_value_every_season_and_smoothing() -> None:
    weekly = np.tile([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 10)
    weekly[-1] = np.nan
    forecasts = make_references(weekly, (7, 364), 9)
    assert forecasts[LAST_VALUE].tolist() == [6.0] * 9
    assert forecasts["value 7 before"].tolist() == [1, 2, 3, 4, 5, 6, 6, 1, 2]
    assert "value 364 before" not in forecasts
    assert np.isfinite(forecasts[SMOOTHING]).all()


def results(offset: float, half_width: float, facts: dict[str, Any], values: pd.DataFrame) -> dict[str, Any]:
    """The crew is off by `offset`, the references by 1."""
    rows = [
        {"origin": origin, "series": name, "step": step + 1, "value": values[name].iloc[origin + step]}
        for origin in list_origins(facts)
        for name in values
        for step in range(facts["horizon"])
    ]
    reference = [{**row, "value": row["value"] + (-1) ** row["origin"]} for row in rows]
    own = [
        {
            **row,
            "value": row["value"] + offset,
            "low": row["value"] - half_width,
            "high": row["value"] + half_width,
        }
        for row in rows
    ]
    labcrew = {"forecasts": {"labcrew": own}, "note": "Ridge", "forecaster": None, "fit_s": 12.0}
    return {"references": {"forecasts": {LAST_VALUE: reference}}, "labcrew": labcrew}


def evaluate(offset: float, half_width: float, folder: Path) -> Outcome:
    prepare(task(), folder)
    values, facts = read_task(folder)
    outcome = evaluate_task(values, facts, results(offset, half_width, facts, values))
    assert outcome is not None
    return outcome


@pytest.mark.parametrize(
    ("offset", "ratio", "is_worse"), [(0.5, 0.5, False), (1.5, 1.5, True), (9.0, MAX_RATIO, True)]
)
def test_errors_are_held_against_the_best_reference(
    tmp_path: Path, offset: float, ratio: float, is_worse: bool
) -> None:
    outcome = evaluate(offset, 1.0, tmp_path)
    assert outcome.ratio == pytest.approx(ratio)
    assert outcome.best_reference == LAST_VALUE
    assert outcome.is_worse is is_worse


def test_the_share_that_the_intervals_hold_is_measured(tmp_path: Path) -> None:
    assert evaluate(0.0, 1.0, tmp_path).coverage == 1.0
    assert evaluate(0.0, -1.0, tmp_path).coverage == 0.0
    assert evaluate(0.0, -1.0, tmp_path).has_nominal_coverage is False


def test_the_page_names_no_held_out_task() -> None:
    outcomes = {name: Outcome(name, LAST_VALUE, 0.9, 0.1, 0.9, 0.02, "Ridge", 12.0) for name in TASKS}
    facts = {name: {"every": "day", "horizon": 7, "measure": None} for name in TASKS}
    failures = dict.fromkeys(TASKS, "no model")
    page = render_results_page(outcomes, failures, {}, facts, 20)
    assert not [name for name in TASKS if is_held_out(name) and (f"| {name} |" in page or f"- {name}:" in page)]
    summary = summarise([*outcomes.values()])
    assert summary is not None
    assert (summary.tasks, summary.worse, summary.nominal) == (len(TASKS), 0, len(TASKS))
