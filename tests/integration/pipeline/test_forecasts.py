"""A forecast on an ordinary table is held against what the series says by itself."""

import json

import numpy as np
import pandas as pd
import pytest

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]


async def test_a_forecast_is_told_beside_the_last_season_and_smoothing(lab, tmp_path):
    days, chance = np.arange(900), np.random.default_rng(0)
    sold = (
        80
        + 15 * np.sin(2 * np.pi * days / 7)
        + np.cumsum(chance.normal(0, 0.5, 900))
        + chance.normal(0, 2, 900)
    )
    table = pd.DataFrame({"day": pd.date_range("2022-01-01", periods=900), "sold": sold.round(2)})
    table.to_csv(tmp_path / "sales.csv", index=False)
    await lab.upload(tmp_path / "sales.csv")
    drive = lab.drive("Forecast sold 2 days ahead, judged by the mean absolute error", {"time_budget_s": 8})
    await drive.run()
    recorded = drive.journal.recorded
    final = next(
        json.loads(json.dumps(made.value)) for call, made in recorded if call.name == "final_evaluation"
    )
    named = {each["name"]: each for each in final["references"]}
    assert set(named) == {"last value", "drift", "last season", "exponential smoothing"}
    assert named["exponential smoothing"]["score"] < named["last value"]["score"]
    assert named["last value"]["difference"]["low"] > 0
    assert not any(call.name == "backtest_model" for call, _ in recorded)
