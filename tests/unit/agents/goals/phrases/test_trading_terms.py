"""What a goal says of coins, bars, dates and costs, and what is asked where it does not."""

import pytest
from langgraph.errors import GraphInterrupt

from app.agents.goals.goal import Lookahead
from app.agents.goals.parser import parse_goal
from app.agents.goals.phrases.trading_terms import MarketTerms, interval_length_s, parse_bps, parse_market_terms
from app.agents.planner.plan_editing import plan_error
from app.agents.planner.plan_review import read_tables
from app.sessions.in_memory import MemoryJournal


@pytest.mark.parametrize(
    ("goal", "wanted"),
    [
        (
            "Will BTC rise in the next hour? use 5-minute bars of 2024, fees 10 bps",
            MarketTerms(("BTC",), "5m", "2024-01-01", "2024-12-31T23:59:59", 10.0),
        ),
        (
            "Will ETH and BTC rise tomorrow? daily candles since 2023-05, 0.1% fees, 2 bps slippage, long only",
            MarketTerms(("ETH", "BTC"), "1d", "2023-05-01", None, 10.0, 2.0, True),
        ),
        (
            "Forecast bitcoin from January 2024 to March 5, 2024 with no fees",
            MarketTerms(("BTC",), None, "2024-01-01", "2024-03-05T23:59:59", 0.0),
        ),
        (
            "Predict SOL until 2024-02-29 on four-hour candles; commission: 7.5 basis points, never short",
            MarketTerms(("SOL",), "4h", None, "2024-02-29", 7.5, None, True),
        ),
        ("Does the price of doge go up?", MarketTerms(("DOGE",))),
        (
            "BTC: take profit 1 %, stop 0.5 %, at most 4 hours, fees 5 bps",
            MarketTerms(("BTC",), fee_bps=5.0, take_profit=0.01, stop_loss=0.005),
        ),
        (
            "Trade ETH with a 2% take-profit and a stop-loss of 80 bps, held for 12 bars",
            MarketTerms(("ETH",), take_profit=0.02, stop_loss=0.008),
        ),
        ("BTC next 12 bars, round-trip cost 20 bps", MarketTerms(("BTC",), fee_bps=10.0)),
        ("ETH with fees of 5 bps for a round trip", MarketTerms(("ETH",), fee_bps=2.5)),
        ("SOL, maker fee 2 bps and taker fee 5 bps", MarketTerms(("SOL",), fee_bps=5.0)),
        ("BTC with no fees, fees 10 bps", MarketTerms(("BTC",))),
        ("BTC, fees 10 bps; yes, 10 bps fees", MarketTerms(("BTC",), fee_bps=10.0)),
        ("Predict BTC during 2024-13, slippage of 3bps", MarketTerms(("BTC",), slippage_bps=3.0)),
    ],
)
def test_a_goal_says_what_is_wanted_of_the_market(goal, wanted):
    assert parse_market_terms(goal) == wanted


@pytest.mark.parametrize(
    ("goal", "ahead", "each"),
    [
        ("Forecast the next 14 days of sales per store", Lookahead(seconds=14 * 86_400.0), True),
        ("A 24-hour forecast of the load", Lookahead(seconds=86_400.0), True),
        ("Predict the load up to 6 hours ahead", Lookahead(seconds=21_600.0), True),
        ("Forecast sales in 14 days", Lookahead(seconds=14 * 86_400.0), False),
        ("Forecast next week's sales", Lookahead(seconds=7 * 86_400.0), True),
        ("Forecast the number of bikers in each hour of the coming months", None, False),
        ("Predict which of the coming weeks' flights will be late", None, False),
        ("Forecast sales 2 days ahead", Lookahead(seconds=172_800.0), False),
        ("BTC: take profit 1 %, stop 0.5 %, at most 4 hours", Lookahead(seconds=14_400.0), False),
        ("ETH with a 2% take-profit, held for 12 bars", Lookahead(rows=12), False),
        ("Rooms for at most 4 hours", None, False),
        ("Is BTC going up in the next 15m?", Lookahead(seconds=900.0), False),
        ("BTC 4h ahead", Lookahead(seconds=14_400.0), False),
        ("Will it fail in 2 hrs?", Lookahead(seconds=7_200.0), False),
        ("What is worth 5m in 3D?", None, False),
    ],
)
def test_how_far_ahead_and_whether_each_step_is_read(goal, ahead, each):
    assert (parse_goal(goal).lookahead, parse_goal(goal).has_each_step) == (ahead, each)


async def test_what_is_forecast_per_group_is_not_the_group(bench, make_table, make_column):
    day = make_column("day", "datetime", 400, min="2024-01-01", max="2025-02-03")
    columns = [day, make_column("shop", "category", 4), make_column("sales", distinct=380)]
    bench.shelf.datasets = [make_table("sold", columns, 1600)]
    goal = "Forecast the next 7 days of sales per shop"
    plan = (await bench.run("planner", {"goal": goal, "preferences": {}})).output
    assert (plan.target, plan.group_column, plan.horizon, plan.every_step) == ("sales", "shop", 7, True)


@pytest.mark.parametrize(
    ("answer", "bps"), [("10 bps", 10), ("0.1 %", 10), ("none", 0), ("7.5", 7.5), ("I do not know", None)]
)
def test_an_answer_about_costs_is_read(answer, bps):
    assert parse_bps(answer) == bps


@pytest.mark.parametrize(("interval", "seconds"), [("5m", 300), ("4h", 14_400), ("1d", 86_400)])
def test_an_interval_has_seconds(interval, seconds):
    assert interval_length_s(interval) == seconds


@pytest.mark.parametrize(
    ("goal", "question"),
    [
        ("Predict BTC with fees of 10 bps", "How far ahead should prices be forecast?"),
        ("Will BTC rise in the next hour?", "What does a trade cost?"),
    ],
)
async def test_what_a_forecast_of_prices_lacks_is_asked_for(bench, goal, question):
    with pytest.raises(GraphInterrupt):
        await bench.run("planner", {"goal": goal, "preferences": {}})
    [asked] = bench.journal.questions
    assert asked.text.startswith(question)
    assert asked.default in asked.options


async def test_answers_become_the_horizon_and_the_costs(bench):
    bench.journal = MemoryJournal(answers={"tool:2.0": "4 hours", "tool:3.0": "0.05%"})
    plan = (await bench.run("planner", {"goal": "Predict BTC on hourly bars", "preferences": {}})).output
    assert (plan.horizon, plan.trading.fee_bps, plan.interval) == (4, 5.0, "1h")


async def test_several_coins_are_learned_together(bench):
    goal = "Will BTC or ETH rise in the next hour? Fees 4 bps, slippage 1 bp"
    plan = (await bench.run("planner", {"goal": goal, "preferences": {}})).output
    assert (plan.coins, plan.group_column, plan.horizon) == (["BTC", "ETH"], "coin", 12)
    assert plan_error(plan, read_tables(plan, ())) is None
    assert (plan.trading.fee_bps, plan.trading.slippage_bps, plan.trading.long_only) == (4, 1, False)


async def test_uploaded_bars_are_traded_at_costs_that_are_said_to_be_assumed(bench, tables):
    bench.shelf.datasets = [tables["stock"]]
    goal = "Predict next-day direction from these prices"
    plan = (await bench.run("planner", {"goal": goal, "preferences": {}})).output
    assert plan.trading.fee_bps == 10
    assert any("assumed to be 10 bps" in note for note in plan.notes)


@pytest.mark.parametrize(
    ("goal", "outlook", "kind"),
    [
        ("How volatile will the close be over the next 5 days?", "volatility", "regression"),
        ("Predict the next-day direction of close from volatility", "direction", "classification"),
        ("Predict close; its volume is volatile", None, None),
    ],
)
async def test_volatility_is_what_a_goal_asks_for_and_not_what_it_asks_by(bench, tables, goal, outlook, kind):
    bench.shelf.datasets = [tables["stock"]]
    plan = (await bench.run("planner", {"goal": goal, "preferences": {"target": "close"}})).output
    assert (plan.outlook, plan.kind) == (outlook, kind)


async def test_a_column_of_volatility_is_a_number_like_others(bench, make_table, make_column):
    day = make_column("day", "datetime", 400, min="2024-01-01", max="2025-02-03")
    bench.shelf.datasets = [make_table("market", [day, make_column("volatility"), make_column("volume")], 400)]
    goal = "Forecast the volatility in 5 days"
    plan = (await bench.run("planner", {"goal": goal, "preferences": {}})).output
    assert (plan.target, plan.horizon, plan.outlook) == ("volatility", 5, None)


@pytest.mark.parametrize(
    ("goal", "target", "fee"),
    [
        ("Predict next day's return, fees 5 bps", "Close", 5.0),
        ("Predict next day's volume, fees 5 bps", "Volume", None),
    ],
)
async def test_of_uploaded_bars_the_close_is_meant_and_no_volume_is_traded(
    bench, make_table, make_column, goal, target, fee
):
    day = make_column("Date", "datetime", 1500, min="2018-01-02", max="2023-10-18")
    names = ("Open", "High", "Low", "Close", "Adj Close", "Volume")
    bench.shelf.datasets = [make_table("aapl", [day, *map(make_column, names)], 1500)]
    plan = (await bench.run("planner", {"goal": goal, "preferences": {}})).output
    assert (plan.target, plan.horizon, plan.trading and plan.trading.fee_bps) == (target, 1, fee)
