"""A goal about single persons over their transactions: a table of persons, its model, and who comes next."""

import io

import numpy as np
import pandas as pd
import pytest
from tests.fast_families import FAST_FAMILIES

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]


def make_orders(persons: int = 160, days: int = 500) -> pd.DataFrame:
    """Orders of persons with different rates, of whom some stop."""
    draw = np.random.default_rng(4)
    rows = []
    for person in range(persons):
        gap, day = draw.choice([8, 25, 80]), draw.uniform(0, 300)
        stop = draw.choice([day + 120, 10 * days])
        while day < min(stop, days):
            rows.append((f"C{person:03}", int(day), round(draw.lognormal(3, 0.5), 2)))
            day += draw.exponential(gap)
    orders = pd.DataFrame(rows, columns=["customer_id", "day", "amount"]).sort_values("day")
    ordered = pd.Timestamp("2023-01-01") + pd.to_timedelta(orders.pop("day"), unit="D")
    return orders.assign(ordered=ordered.dt.date)


async def test_customers_of_the_end_of_the_data_are_ranked_by_their_chance(lab, tmp_path):
    orders = make_orders()
    orders.to_csv(tmp_path / "orders.csv", index=False)
    lab.shelf.datasets.clear()
    await lab.upload(tmp_path / "orders.csv")
    preferences = {"time_budget_s": 8, "deterministic": True, "clarify": "never", **FAST_FAMILIES}
    drive = lab.drive("Which customers will order again in the next 60 days?", preferences)
    ended = await drive.run()

    result = drive.spec.result(ended)
    problem = result["problem"]
    assert (problem["target"], problem["time_column"]) == ("active within 60 days", "cutoff")
    assert problem["exclude"] == ["cutoff", "customer_id"]
    # A model that is sent orders says what it was made of.
    assert problem["made_of"] == "orders"
    persons = orders["customer_id"].nunique()
    first = result["unlabelled"].pop("first")
    assert result["unlabelled"] == {"rows": persons, "unlabelled": persons, "file": "predictions.csv"}

    # Who was there lately comes back: what that tells without a model stands beside the score.
    [reference] = result["references"]
    assert reference["name"] == "days since last alone"
    assert 0.5 < reference["score"] <= 1

    async def read(name: str) -> bytes:
        draft = next(draft for draft in drive.journal.artifacts if draft.name == name)
        return b"".join([piece async for piece in lab.blobs.open(draft.digest)])

    report = (await read("report.md")).decode().replace("\\", "")
    assert "one row for each customer_id and cutoff" in report
    assert "Cutoffs with an outcome: 2023-03-22, 2023-05-21, " in report
    assert "customers that it names" in report
    predictions = pd.read_csv(io.BytesIO(await read("predictions.csv")))
    assert [entry["name"] for entry in first] == predictions["customer_id"].head(5).tolist()
    assert predictions["probability_yes"].is_monotonic_decreasing
    assert predictions["probability_yes"].head(20).mean() > predictions["probability_yes"].tail(20).mean() + 0.3
