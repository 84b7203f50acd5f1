"""A forecast on an ordinary table is held against what the series says by itself."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from app.sandbox.exchange.contract import Computation

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

COUNTED = {"time_budget_s": 10, "deterministic": True}
"""Preferences of a session that draws all figures: one with a clock leaves some out on a slow machine."""


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
    final = _made(drive, "final_evaluation")
    named = {each["name"]: each for each in final["references"]}
    seasons = {f"the value {rows} rows before" for rows in (7, 364, 365)}
    assert {"last value", "drift", "exponential smoothing", "best classical methods"} | seasons == set(named)
    assert named["exponential smoothing"]["score"] < named["last value"]["score"]
    assert named["last value"]["difference"]["low"] > 0
    assert not any(call.name == "backtest_model" for call, _ in drive.journal.recorded)


async def test_the_next_days_of_every_shop_are_forecast_and_judged_step_by_step(lab, tmp_path):
    days, chance = np.arange(400), np.random.default_rng(1)
    parts = [
        pd.DataFrame(
            {
                "day": pd.date_range("2024-01-01", periods=400),
                "shop": shop,
                "sales": 60 * place
                + 12 * np.sin(2 * np.pi * (days + place) / 7)
                + np.cumsum(chance.normal(0, 0.4, 400))
                + chance.normal(0, 2, 400),
            }
        )
        for place, shop in enumerate(("north", "south"), 1)
    ]
    pd.concat(parts).to_csv(tmp_path / "shops.csv", index=False, float_format="%.2f")
    lab.shelf.datasets.clear()
    await lab.upload(tmp_path / "shops.csv")
    drive = lab.drive("Forecast the next 7 days of sales per shop, judged by MAE", COUNTED)
    ended = await drive.run()
    assert drive.journal.questions == []
    result = drive.spec.result(ended)
    problem = result["problem"]
    assert (problem["horizon"], problem["every_step"], problem["group_column"]) == (7, True, "shop")
    final, told = (_made(drive, name) for name in ("final_evaluation", "forecast_future"))
    assert [step["rows_ahead"] for step in final["by_step"]] == list(range(1, 8))
    assert final["beats_baseline"]
    assert all(0.75 < step["coverage"]["coverage"]["value"] <= 1 for step in final["by_step"])
    assert "the value 7 rows before" in {each["name"] for each in final["references"]}

    assert (told["rows"], told["series"]) == (14, 2)
    assert (told["first"][:10], told["last"][:10]) == ("2025-02-04", "2025-02-10")
    assert all(each["low"] < each["prediction"] < each["high"] for each in told["forecasts"])
    named = [draft.name for draft in drive.journal.artifacts]
    assert sum(name.startswith("forecast") for name in named) == 4, "two tables, a figure in two forms"
    kept = {(draft.kind, draft.name) for draft in drive.journal.artifacts}
    assert {("table", "forecasts.csv"), ("figure", "forecast.svg"), ("figure", "error_by_step.svg")} <= kept
    assert re.search(r"sales of \w+ on 4 February 2025: [\d.]+ \([\d.]+ to [\d.]+\)", result["headline"])
    assert {figure["name"] for figure in result["conclusion"]["figures"]} == {"forecast"}

    model = next(draft for draft in reversed(drive.journal.artifacts) if draft.kind == "model")
    rows = pd.read_csv(tmp_path / "shops.csv").groupby("shop").tail(120)  # all that its features look back at
    asked = rows.to_dict("records")
    answer = await lab.computer.run(
        Computation("models.predict.predict", {"rows": asked}), {"model": model.digest}
    )
    said = {(each["shop"], each["day"]): each["prediction"] for each in answer.value["predictions"]}
    before = {(each["shop"], each["day"]): each["prediction"] for each in told["forecasts"]}
    # The classical methods were better on the hold-out: the delivered model predicts by them.
    assert told["forecaster"] == answer.value["forecaster"]
    assert told["forecaster"] is not None
    assert not final["recommended"]["is_model"]
    # So the session's score is theirs, and not that of the model.
    score = final["methods"]["metrics"][result["metric"]]
    assert result["holdout"]["value"] == score["value"] < final["metrics"][result["metric"]]["value"]
    assert final["methods"]["intervals"]["coverage"]["value"] > 0.75
    assert model.name == told["delivered"] == f"Classical methods beside {told['model']}"
    assert said == pytest.approx(before, rel=1e-4)


def _made(drive, name):
    """What a recorded call answered."""
    recorded = drive.journal.recorded
    return next(json.loads(json.dumps(made.value)) for call, made in recorded if call.name == name)
