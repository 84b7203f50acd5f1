"""Classical methods that are stored with a model forecast rows that come later."""

import json

import numpy as np
import pandas as pd
import pytest

from app.modeling.forecasting.classical_forecaster import StoredForecaster, describe_forecaster
from app.modeling.forecasting.series_forecast import SeriesForecast, forecast_series
from app.modeling.problem.kinds import Outlook, ProblemKind
from app.modeling.problem.problem import Problem

HORIZON = 6


def problem(group: str | None = None) -> Problem:
    return Problem(
        "sold",
        ProblemKind.REGRESSION,
        "mae",
        time_column="month",
        group_column=group,
        horizon=HORIZON,
        every_step=True,
        outlook=Outlook.VALUE,
    )


def seasonal(rows: int, level: float = 50.0) -> pd.DataFrame:
    months = pd.date_range("2005-01-01", periods=rows, freq="MS")
    values = level + 10 * np.sin(2 * np.pi * np.arange(rows) / 12)
    return pd.DataFrame({"month": months, "sold": values + np.random.default_rng(0).normal(size=rows)})


def stored(table: pd.DataFrame, group: str | None = None) -> tuple[SeriesForecast, StoredForecaster]:
    forecast = forecast_series(table, problem(group))
    assert forecast is not None
    document = json.loads(json.dumps(describe_forecaster(forecast.forecaster, forecast.histories)))
    return forecast, StoredForecaster.from_json(document, problem(group))


def test_a_stored_forecaster_forecasts_what_it_forecast_before() -> None:
    table = seasonal(120)
    forecast, forecaster = stored(table)
    again = forecaster.forecast(table.tail(3), problem())
    pd.testing.assert_frame_equal(again, forecast.frame)


@pytest.mark.parametrize("skipped", [0, 4])
def test_new_rows_continue_the_past_also_after_missing_months(skipped: int) -> None:
    table = seasonal(130)
    _, forecaster = stored(table.head(120))
    later = table.iloc[120 + skipped :]
    forecast = forecaster.forecast(later, problem())
    assert forecast["month"].iloc[0] == pd.Timestamp("2015-11-01")
    # The season is in its place: had the missing months been left out, it would be off by them.
    truth = 50 + 10 * np.sin(2 * np.pi * np.arange(130, 136) / 12)
    assert np.abs(forecast["prediction"] - truth).mean() < 2.5
    assert ((forecast["low"] < forecast["prediction"]) & (forecast["prediction"] < forecast["high"])).all()


def test_each_series_continues_its_own_past_and_others_are_left_out() -> None:
    table = pd.concat(
        [seasonal(100, level).assign(shop=name) for name, level in (("a", 50.0), ("b", 500.0), ("c", 90.0))],
        ignore_index=True,
    )
    _, forecaster = stored(table, "shop")
    last = table.groupby("shop").tail(1)
    forecast = forecaster.forecast(last.loc[last["shop"].isin(["a", "b"])], problem("shop"))
    assert list(forecast["shop"].unique()) == ["a", "b"]
    means = forecast.groupby("shop")["prediction"].mean()
    assert 40 < means["a"] < 60
    assert 490 < means["b"] < 510


def test_a_new_series_is_forecast_from_its_own_rows() -> None:
    table = seasonal(100).assign(shop="a")
    _, forecaster = stored(table, "shop")
    forecast = forecaster.forecast(seasonal(40, 900.0).assign(shop="new"), problem("shop"))
    assert forecast["prediction"].between(870, 930).all()


def test_intervals_grow_with_the_level_where_errors_do() -> None:
    months = pd.date_range("1990-01-01", periods=240, freq="MS")
    growth = np.exp(0.012 * np.arange(240))
    noise = np.random.default_rng(2).normal(0, 1, 240)
    widths = {}
    for name, values in (("growing", 100 * growth * np.exp(0.08 * noise)), ("even", 100 * growth + 8 * noise)):
        table = pd.DataFrame({"month": months, "sold": values})
        forecast, forecaster = stored(table.head(160))
        assert forecast.forecaster.by_level == (name == "growing")
        later = forecaster.forecast(table.iloc[160:], problem())
        widths[name] = [float((part["high"] - part["low"]).mean()) for part in (forecast.frame, later)]
    # The level grows by 2.6 between both forecasts.
    assert widths["growing"][1] / widths["growing"][0] > 2
    assert widths["even"][1] / widths["even"][0] < 1.5
