"""Series of any layout, from upload to forecast."""

import json

import numpy as np
import pandas as pd
import pytest

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


async def run(lab, table, path, goal, **preferences):
    table.to_csv(path, index=False)
    lab.shelf.datasets.clear()
    await lab.upload(path)
    drive = lab.drive(goal, {"time_budget_s": 10, **preferences})
    ended = await drive.run()
    assert drive.journal.questions == []
    recorded = drive.journal.recorded
    calls = {call.name: json.loads(json.dumps(made.value)) for call, made in recorded}
    return drive.spec.result(ended), calls


async def test_months_as_year_and_name_are_forecast(lab, tmp_path):
    chance, count = np.random.default_rng(0), 180
    values = (
        25_000
        + 30 * np.arange(count)
        + 900 * np.sin(np.arange(count) * np.pi / 6)
        + chance.normal(0, 150, count)
    )
    table = pd.DataFrame(
        {
            "Month": [f"{1939 + n // 12} {MONTHS[n % 12]}" for n in range(count)],
            "Employment": [f"{value:,.0f}" for value in values],
        }
    )
    goal = "Forecast employment for the next 12 months"
    result, calls = await run(lab, table, tmp_path / "labour.csv", goal)
    forecast = calls["forecast_future"]
    assert (forecast["rows"], forecast["first"][:10], forecast["last"][:10]) == (12, "1954-01-01", "1954-12-01")
    assert all(entry["low"] < entry["prediction"] < entry["high"] for entry in forecast["forecasts"])
    assert result["problem"]["time_column"] == "Month"


async def test_rows_of_sales_are_counted_for_the_places_of_one_region(lab, tmp_path):
    chance = np.random.default_rng(1)
    days = pd.date_range("2023-01-02", periods=420)
    rows = [
        {"sold": f"{day:%d.%m.%Y} {hour:02}:15", "region": region}
        for day in days
        for region, mean in (("coast", 4 + 3 * (day.day_of_week > 4)), ("hills", 2))
        for hour in chance.integers(9, 19, chance.poisson(mean))
    ]
    goal = "How many pizzas will we sell per day in the next 7 days, only for the coast?"
    _, calls = await run(lab, pd.DataFrame(rows), tmp_path / "pizzas.csv", goal)
    forecast = calls["forecast_future"]
    assert (forecast["rows"], forecast["first"][:10], forecast["last"][:10]) == (7, "2024-02-26", "2024-03-03")
    assert all(0 <= entry["prediction"] < 12 for entry in forecast["forecasts"])


async def test_next_month_is_the_sum_of_its_days_by_who_was_best(lab, tmp_path):
    chance = np.random.default_rng(2)
    days = pd.date_range("2022-01-01", "2024-03-20")
    rows = [
        {"sold_at": day + pd.Timedelta(hours=12, minutes=int(number)), "price": 9.5}
        for day in days
        for number in range(chance.poisson(6 + 4 * (day.day_of_week > 4)))
    ]
    goal = "How many pizzas will we sell next month?"
    result, calls = await run(lab, pd.DataFrame(rows), tmp_path / "pizzas.csv", goal)
    forecast, final = calls["forecast_future"], calls["final_evaluation"]
    assert (forecast["first"][:10], forecast["last"][:10]) == ("2024-03-21", "2024-04-30")
    [answer] = forecast["answers"]
    assert (answer["first"][:10], answer["last"][:10]) == ("2024-04-01", "2024-04-30")
    april = sum(entry["prediction"] for entry in forecast["forecasts"] if "2024-04" in entry["sold_at"])
    assert answer["value"] == pytest.approx(april, rel=1e-3)
    assert answer["low"] < 30 * (6 + 8 / 7) < answer["high"]
    assert (forecast["forecaster"] is None) == final["recommended"]["is_model"]
    assert result["headline"].startswith("Total number of rows, 1 April 2024 to 30 April 2024:")
