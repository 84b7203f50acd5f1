"""Goals about stored prices: whose they are, and how many of their bars lie ahead."""

import pytest

from app.agents.planner import offline_rules


def _row(coin, interval, bars, first, last):
    return {"coin": coin, "interval": interval, "bars": bars, "first": first, "last": last}


THERE = [
    _row("AAPL", "1d", 1509, "2018-01-02T00:00:00+00:00", "2023-10-18T00:00:00+00:00"),
    _row("BTCUSDT", "5m", 12_960, "2024-01-01T00:00:00+00:00", "2024-02-14T23:55:00+00:00"),
    _row("EURUSD", "1h", 6_242, "2023-01-01T22:00:00+00:00", "2023-12-31T23:00:00+00:00"),
    _row("MSFT.US", "1d", 1512, "2018-01-02T00:00:00+00:00", "2023-10-18T00:00:00+00:00"),
    _row("SPY", "5m", 78 * 257, "2023-01-03T14:30:00+00:00", "2023-12-29T20:55:00+00:00"),
]


def _next(next_call, goal, there=THERE, preferences=None, answered=()):
    brief = {"goal": goal, "preferences": preferences or {}}
    seen = (("list_datasets", {}, {"datasets": []}), ("get_available_coins", {}, {"coins": there}))
    return next_call(offline_rules.decide, brief, *seen, *answered)


def test_without_a_table_the_planner_looks_which_prices_there_are(next_call):
    brief = {"goal": "Predict next day's return of AAPL", "preferences": {}}
    assert (
        next_call(offline_rules.decide, brief, ("list_datasets", {}, {"datasets": []}))[0]
        == "get_available_coins"
    )


@pytest.mark.parametrize(
    ("goal", "coins", "horizon"),
    [
        ("Predict next day's return of AAPL, fees 5 bps", ["AAPL"], 1),
        ("Will MSFT's close be higher next week? fees 5 bps", ["MSFT.US"], 5),
        ("Will EUR/USD rise in the next hour? 1 bp fees", ["EURUSD"], 1),
        ("Will eurusd rise in the next 3 days? 1 bp fees", ["EURUSD"], 72),
        ("Will SPY fall tomorrow? fees 1 bp", ["SPY"], 78),
        ("Will SPY or AAPL rise next week? daily bars, fees 1 bp", ["SPY", "AAPL"], 5),
        ("Will bitcoin rise in the next day? fees 10 bps", ["BTCUSDT"], 288),
        ("Will DOGE or BTC rise in the next hour? fees 10 bps", ["BTCUSDT"], 12),
    ],
)
def test_a_goal_names_stored_prices_and_looks_ahead_by_their_bars(next_call, goal, coins, horizon):
    name, made = _next(next_call, goal)
    assert (name, made["source"], made["coins"], made["horizon"]) == ("Plan", "prices", coins, horizon)


def test_a_horizon_within_a_bar_is_said_to_be_one_bar(next_call):
    _, made = _next(next_call, "Will BTC rise in the next hour? Daily bars, fees 10 bps")
    assert made["horizon"] == 1
    assert any(note.startswith("Bars last 1d, longer than the goal's horizon") for note in made["notes"])


def test_a_horizon_that_is_wished_stays(next_call):
    _, made = _next(next_call, "Will AAPL rise next week? fees 5 bps", preferences={"horizon": 3})
    assert made["horizon"] == 3


@pytest.mark.parametrize(
    ("goal", "first"), [("Will AAPL rise? fees 5 bps", "1 day"), ("Will BTC rise? fees 5 bps", "1 hour")]
)
def test_how_far_is_asked_in_steps_that_the_bars_allow(next_call, goal, first):
    name, asked = _next(next_call, goal)
    assert (name, asked["default"]) == ("ask_user", first)


def test_weekly_returns_look_a_week_ahead(next_call):
    assert _next(next_call, "Predict weekly returns of MSFT, fees 5 bps")[1]["horizon"] == 5


def test_costs_that_contradict_each_other_are_asked_about(next_call):
    name, asked = _next(next_call, "Will BTC rise in the next hour? No fees, fees 10 bps")
    assert (name, asked["question"].split("?")[0]) == ("ask_user", "What does a trade cost")


def test_who_asks_for_a_sharpe_ratio_hears_where_it_is_told(next_call):
    _, made = _next(next_call, "Maximise the Sharpe ratio of BTC over the next 4h, fees 10 bps")
    assert any("The backtest shows" in note for note in made["notes"])


def test_words_of_a_goal_are_no_coins(next_call):
    there = [_row(name, "1d", 100, None, None) for name in ("ALL", "NOW", "NEXT", "OPEN")]
    name, asked = _next(next_call, "Will all of it rise in the next day from now? fees 5 bps", there)
    assert (name, asked["default"]) == ("ask_user", "ALL")


def test_the_only_prices_are_meant_by_a_goal_that_names_none(next_call):
    _, made = _next(next_call, "Will it rise in the next day? fees 5 bps", THERE[:1])
    assert (made["coins"], made["horizon"]) == (["AAPL"], 1)


@pytest.mark.parametrize(("answer", "coins"), [("EURUSD", ["EURUSD"]), ("none, end here", [])])
def test_other_prices_than_those_that_were_named_are_taken_only_on_request(next_call, answer, coins):
    goal = "Will DOGE rise in the next hour? fees 10 bps"
    name, asked = _next(next_call, goal)
    assert (name, asked["default"]) == ("ask_user", "none, end here")
    _, made = _next(next_call, goal, answered=[("ask_user", asked, {"answer": answer})])
    assert made.get("coins", []) == coins
    assert made["target"] == ("close" if coins else "?")
    assert any("no stored prices of DOGE" in note for note in made["notes"])


def test_a_goal_about_something_else_is_not_about_prices(next_call):
    assert _next(next_call, "Predict churn")[1]["target"] == "?"


@pytest.mark.parametrize(
    "goal",
    ["Volatility of BTC over the next day", "How volatile will BTC be tomorrow?", "BTC realized vol, next 24h"],
)
def test_volatility_is_foretold_without_trades(next_call, goal):
    name, made = _next(next_call, goal)
    assert (name, made["target"], made["kind"]) == ("Plan", "close", "regression")
    assert (made["outlook"], made["horizon"], made.get("trading")) == ("volatility", 288, None)
