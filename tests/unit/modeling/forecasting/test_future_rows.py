"""The moments after the last row, and which rows ask about them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app.modeling.forecasting.future_rows import future_rows, latest_rows, prediction_times
from app.modeling.problem.kinds import Outlook, ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ROWS_AHEAD
from app.modeling.recipe.sampling_interval import IntervalUnit, detect_interval

ALONE = Problem(
    "sold",
    ProblemKind.REGRESSION,
    "mae",
    time_column="day",
    group_column="shop",
    horizon=3,
    outlook=Outlook.VALUE,
)
EVERY = replace(ALONE, every_step=True)


def table() -> pd.DataFrame:
    days = pd.date_range("2024-01-01", periods=10)
    both = [pd.DataFrame({"day": days[: 10 - 2 * n], "shop": shop}) for n, shop in enumerate("ab")]
    return pd.concat(both).assign(sold=1.0).sort_values("day").reset_index(drop=True)


@pytest.mark.parametrize(
    ("times", "unit", "after"),
    [
        (pd.date_range("2024-01-01", periods=30, freq="5min"), IntervalUnit.SECOND, ["2024-01-01T02:30"]),
        (pd.date_range("2024-01-01", periods=30, freq="B"), IntervalUnit.WEEKDAY, ["2024-02-12"]),
        (pd.date_range("2022-01-31", periods=24, freq="ME"), IntervalUnit.MONTH, ["2024-01-31", "2024-02-29"]),
        (pd.date_range("2020-01-01", periods=12, freq="QS"), IntervalUnit.MONTH, ["2023-01-01", "2023-04-01"]),
        (pd.date_range("2020-01-15", periods=14, freq="W"), IntervalUnit.SECOND, ["2020-04-26"]),
    ],
)
def test_future_times_continue_the_sampling_interval(times, unit, after):
    rhythm = detect_interval(times.to_numpy())
    assert rhythm is not None
    assert rhythm.unit is unit
    last = np.repeat(times.to_numpy()[-1:], len(after))
    assert rhythm.moments_after(last, np.arange(1, len(after) + 1)).tolist() == pd.to_datetime(after).tolist()


def test_the_last_row_of_each_series_is_expanded_by_step():
    asked, beyond = future_rows(table(), EVERY)
    told = prediction_times(asked.iloc[beyond], EVERY, table())
    assert told.groupby("shop")["day"].apply(lambda days: [f"{day:%d}" for day in days]).to_dict() == {
        "a": ["11", "12", "13"],
        "b": ["09", "10", "11"],
    }
    assert told[ROWS_AHEAD].tolist() == [1, 2, 3, 1, 2, 3]
    assert len(asked) == len(table()) + 4, "rows before are history"


def test_the_last_rows_predict_at_the_horizon():
    asked, beyond = future_rows(table(), ALONE)
    told = prediction_times(asked.iloc[beyond], ALONE)
    assert told.loc[told["shop"] == "b", "day"].dt.day.tolist() == [9, 10, 11]


@pytest.mark.parametrize(
    "wish",
    [
        {"kind": ProblemKind.CLASSIFICATION, "classes": ("down", "up"), "outlook": Outlook.DIRECTION},
        {"outlook": Outlook.CHANGE},
        {"outlook": Outlook.VOLATILITY},
    ],
)
def test_only_the_last_row_predicts_changes_and_classes(wish):
    problem = replace(ALONE, **wish)
    asked, beyond = future_rows(table(), problem)
    assert prediction_times(asked.iloc[beyond], problem, table())["day"].dt.day.tolist() == [13, 11]


def test_the_latest_rows_are_those_of_each_series():
    assert latest_rows(table(), EVERY, 2).groupby("shop")["day"].max().dt.day.to_dict() == {"a": 10, "b": 8}
