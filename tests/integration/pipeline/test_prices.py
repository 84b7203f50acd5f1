"""From a sentence about a coin to a judged forecast: bars in Postgres, the crew, real cells."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import pytest_asyncio

from app.datasets.prices import Prices
from app.db.pool import Database
from app.modeling.analysis.recipe_effects import apply_recipe
from app.modeling.labels.labels import label_times, make_labels
from app.modeling.problem.problem import Problem
from app.sessions.in_memory import MemoryJournal

from .conftest import Lab

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

BARS = 3000
HOUR = 12
QUICK = {"time_budget_s": 8}
WORK = ("fetch_price_data", "lock_holdout", "perform_eda", "calculate_technical_indicators", "create_features")


def bars(coin: str, price: float, seed: int, drift: float) -> pd.DataFrame:
    """A geometric random walk; `drift` moves its mean slowly, so that the past tells of the next hour."""
    chance = np.random.default_rng(seed)
    trend = pd.Series(chance.normal(0, drift, BARS)).ewm(alpha=0.03).mean() * 33
    close = price * np.exp(np.cumsum(chance.normal(0, 1.2e-3, BARS) + trend))
    opened = np.concatenate([[price], close[:-1]])
    above, below = 1 + np.abs(chance.normal(0, 6e-4, BARS)), 1 - np.abs(chance.normal(0, 6e-4, BARS))
    return pd.DataFrame(
        {
            "symbol": coin,
            "time": pd.date_range("2026-01-01", periods=BARS, freq="5min"),
            "open": opened,
            "high": np.maximum(opened, close) * above,
            "low": np.minimum(opened, close) * below,
            "close": close,
            "volume": chance.lognormal(3, 0.6, BARS),
        }
    )


@pytest_asyncio.fixture(loop_scope="session")
async def market(lab: Lab, database_url: str, tmp_path: Path) -> AsyncIterator[Lab]:
    """BTC has a signal, ETH has none."""
    database = await Database.open(database_url)
    prices = Prices(database, lab.computer, tmp_path, None)
    file = tmp_path / "bars.csv"
    pd.concat([bars("BTC", 60_000, 1, 8e-4), bars("ETH", 3_000, 2, 0.0)]).to_csv(file, index=False)
    added = await prices.import_file(file, file.name)
    assert (added["added"], added["bad"]["count"]) == (2 * BARS, 0)
    lab.prices = prices
    yield lab
    await database.close()


def digest_of(journal: MemoryJournal, kind: str, name: str) -> str:
    return next(a.digest for a in reversed(journal.artifacts) if (a.kind, a.name) == (kind, name))


async def test_a_sentence_about_a_coin_becomes_a_forecast_that_never_looks_ahead(market):
    drive = market.drive("Predict whether BTC rises in the next hour, fees 1 bp", QUICK)
    result: dict[str, Any] = drive.spec.result(await drive.run())
    journal = drive.journal
    assert journal.questions == []
    done = [call.name for call, made in journal.recorded if call.kind == "tool" and not made.failed]
    assert [name for name in done if name in WORK] == list(WORK)

    asked = Problem.from_json(result["problem"])
    assert (asked.time_column, asked.horizon, asked.outlook, asked.positive_class) == (
        "ts",
        HOUR,
        "direction",
        "up",
    )
    assert result["split"]["kind"] == "time"
    assert result["holdout"]["value"] > 0.7
    assert result["holdout"]["low"] > 0.5

    train, holdout = [
        await market.read(digest_of(journal, *which)) for which in (("frame", "train"), ("holdout", "holdout"))
    ]
    assert train["ts"].max() < holdout["ts"].min()
    # The embargo: whose label would lie in the hold-out has none.
    assert make_labels(train, asked).tail(HOUR + 1).isna().tolist() == [False] + [True] * HOUR

    features = next(a for a in journal.artifacts if (a.kind, a.name) == ("frame", "features"))
    half = len(train) // 2
    early = apply_recipe(train.head(half), asked, features.meta["recipe"])
    whole = apply_recipe(train, asked, features.meta["recipe"])
    assert {"RSI_14", "close_lag1"} <= set(whole)
    pd.testing.assert_frame_equal(early, whole.head(half))


async def test_a_random_walk_is_not_sold_as_a_forecast(market):
    drive = market.drive("Will ethereum be higher in an hour? Fees are 1 bp.", QUICK)
    result: dict[str, Any] = drive.spec.result(await drive.run())
    assert result["problem"]["target"] == "close"
    assert result["holdout"]["low"] <= 0.5
    assert "no better" in drive.journal.messages[-1][1]
    assert drive.journal.messages[-1][1].startswith("No edge after costs.")


async def test_two_coins_are_learned_together_and_told_apart(market):
    drive = market.drive("Will BTC and ETH rise in the next hour? Fees are 1 bp.", {"time_budget_s": 6})
    result: dict[str, Any] = drive.spec.result(await drive.run())
    assert drive.journal.questions == []
    asked = Problem.from_json(result["problem"])
    assert (asked.group_column, asked.horizon, asked.outlook) == ("coin", HOUR, "direction")
    tested = _made(drive, "backtest_model")
    assert [each["coin"] for each in tested["by_coin"]] == ["BTC", "ETH"]
    assert {each["kind"] for each in tested["by_regime"]} == {"volatility", "trend"}
    report = (await _report(market, drive.journal)).decode()
    assert "By coin" in report
    assert "By market regime" in report
    assert {"BTC", "ETH"} <= {each["coin"] for each in _made(drive, "forecast_future")["forecasts"]}


async def test_a_profit_and_a_loss_to_stop_at_end_trades_from_a_sentence(market):
    goal = "Which BTC trades end with a gain? Take profit 1 %, stop 0.5 %, at most 4 hours, fees 2 bps."
    drive = market.drive(goal, {"time_budget_s": 6})
    ended = await drive.run()
    assert drive.journal.questions == []
    result: dict[str, Any] = drive.spec.result(ended)
    asked = Problem.from_json(result["problem"])
    assert (asked.barriers, asked.horizon, asked.outlook) == ((0.01, 0.005), 4 * HOUR, "direction")
    train = await market.read(digest_of(drive.journal, "frame", "train"))
    ends = label_times(train, asked)
    assert ((ends - train["ts"]).dropna() <= pd.Timedelta(hours=4)).all()
    tested = _made(drive, "backtest_model")
    assert tested["barriers"] == {"take_profit": 0.01, "stop_loss": 0.005}
    assert tested["terms"] == {"fee_bps": 2, "slippage_bps": 0, "low": 0, "high": 1}
    assert result["headline"].split(":")[0] in ("An edge after costs", "No edge after costs")


def _made(drive: Any, name: str) -> dict[str, Any]:
    """What a recorded call answered."""
    recorded = drive.journal.recorded
    return next(json.loads(json.dumps(made.value)) for call, made in recorded if call.name == name)


async def _report(market: Lab, journal: MemoryJournal) -> bytes:
    return b"".join([piece async for piece in market.blobs.open(digest_of(journal, "report", "report.md"))])


async def test_a_coin_without_prices_is_asked_about(market):
    drive = market.drive("Will dogecoin rise in the next hour? Fees are 5 bps.", QUICK)
    assert "__interrupt__" in await drive.run()
    [question] = drive.journal.questions
    assert question.text == "Which coin's prices should be used? None are stored of DOGE."
    assert (question.options, question.default) == (["BTC", "ETH", "none, end here"], "none, end here")
