"""One number for several forecasts, whose interval knows how their errors go together."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.forecasting.series_forecast import reduce_forecasts
from app.modeling.problem.kinds import Outlook, ProblemKind
from app.modeling.problem.problem import Problem

HORIZON = 30
PROBLEM = Problem(
    "sold",
    ProblemKind.REGRESSION,
    "rmse",
    time_column="day",
    horizon=HORIZON,
    every_step=True,
    outlook=Outlook.VALUE,
)


def past(values: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"day": pd.date_range("2023-01-01", periods=len(values)), "sold": values})


def forecasts() -> pd.DataFrame:
    days = pd.date_range("2024-06-01", periods=HORIZON)
    return pd.DataFrame({"day": days, "prediction": 50.0, "low": 34.0, "high": 66.0})


def width(answer: str, rows: pd.DataFrame) -> float:
    (entry,) = reduce_forecasts(forecasts(), PROBLEM, answer, 0, rows)
    assert entry["low"] < entry["value"] < entry["high"]
    return float(entry["high"] - entry["low"])


@pytest.mark.parametrize("seed", range(3))
def test_independent_errors_partly_cancel_in_a_sum(seed: int) -> None:
    noise = np.random.default_rng(seed).normal(size=500)
    independent = width("sum", past(50 + 10 * noise))
    # Of 30 independent days the width of the sum is sqrt(30) times that of a day, and not 30 times.
    true_width = 32 * np.sqrt(HORIZON)
    assert 0.9 * true_width < independent < 2.5 * true_width


@pytest.mark.parametrize("seed", range(3))
def test_errors_that_stay_add_up(seed: int) -> None:
    walk = np.cumsum(np.random.default_rng(seed).normal(size=500))
    assert width("sum", past(50 + walk)) > 0.6 * 32 * HORIZON


def test_a_short_past_does_not_tell_and_its_widths_are_added() -> None:
    assert width("sum", past(np.arange(12.0))) == pytest.approx(32 * HORIZON)
    assert width("mean", past(np.arange(12.0))) == pytest.approx(32)


def test_a_maximum_has_the_width_of_a_day() -> None:
    assert width("maximum", past(50 + np.random.default_rng(0).normal(size=500))) == pytest.approx(32)
