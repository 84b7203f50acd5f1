"""Forecasts that are ranked by series and compared with a number."""

import pandas as pd

from app.modeling.forecasting.forecast_comparison import (
    MEETS,
    compare_answers,
    compare_forecasts,
    rank_answers,
)
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem

PROBLEM = Problem("sold", ProblemKind.REGRESSION, "rmse", time_column="day", group_column="shop", horizon=3)
FORECASTS = pd.DataFrame(
    {
        "shop": ["north"] * 3 + ["south"] * 3,
        "day": [*pd.date_range("2026-01-01", periods=3)] * 2,
        "prediction": [9.0, 11.0, 14.0, 1.0, 2.0, 3.0],
        "low": [7.0, 9.0, 12.0, 0.0, 1.0, 2.0],
        "high": [10.0, 13.0, 16.0, 2.0, 3.0, 4.0],
    }
)


def test_periods_are_counted_by_their_forecast_and_by_their_whole_interval() -> None:
    compared, (north, south) = compare_forecasts(FORECASTS, PROBLEM, {"sign": ">", "value": 10}, skipped=0)
    assert [*compared[MEETS]] == [False, True, True, False, False, False]
    assert north == {"group": "north", "periods": 3, "met": 2, "certain": 1, "excluded": 1}
    assert south == {"group": "south", "periods": 3, "met": 0, "certain": 0, "excluded": 3}


def test_periods_that_only_lead_to_the_asked_ones_do_not_count() -> None:
    _, (north, _) = compare_forecasts(FORECASTS, PROBLEM, {"sign": "<", "value": 10}, skipped=1)
    assert north == {"group": "north", "periods": 2, "met": 0, "certain": 0, "excluded": 1}


def test_answers_are_sorted_by_the_asked_end() -> None:
    answers = [{"group": "a", "value": 1.0}, {"group": "b", "value": 3.0}, {"group": "c", "value": 2.0}]
    assert [answer["group"] for answer in rank_answers(answers, "most")] == ["b", "c", "a"]
    assert [answer["group"] for answer in rank_answers(answers, "least")] == ["a", "c", "b"]
    assert rank_answers(answers, None) == answers


def test_a_total_is_certain_where_its_whole_interval_agrees() -> None:
    answers = [{"value": 12.0, "low": 11.0, "high": 14.0}, {"value": 12.0, "low": 9.0, "high": 14.0}]
    sure, open_ = compare_answers(answers, {"sign": ">=", "value": 10})
    assert (sure["meets"], sure["is_certain"]) == (True, True)
    assert (open_["meets"], open_["is_certain"]) == (True, False)
