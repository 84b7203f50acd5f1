"""Coins, horizon and trading terms of price forecasts, and the questions about them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.agents.goals.goal import Goal, Lookahead, parse_goal
from app.agents.goals.stemming import words
from app.agents.goals.tables import TableProfile
from app.agents.goals.target import ScoredColumn
from app.agents.goals.trading_terms import (
    MarketTerms,
    forecast_unit,
    interval_length_s,
    names_barriers,
    parse_bps,
    parse_market_terms,
)
from app.agents.planner.output import Plan, TradeBarriers, Trading
from app.agents.planner.plan import PRICES, describe_steps
from app.agents.planner.stored_prices import bar_seconds, bars_ahead, coins_in_goal, stored_series
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.policy import AgentAction, call
from app.computations.bars.interval import DAY_S, interval_name

WHICH_COIN = "Which coin's prices should be used?"
STOP = "none, end here"
MAX_COIN_OPTIONS = 49
HOW_FAR = "How far ahead should prices be forecast?"
WHAT_COSTS = "What does a trade cost?"
HORIZONS = ("1 hour", "15 minutes", "4 hours", "1 day", "1 bar")
DAILY_HORIZONS = ("1 day", "1 week", "1 month", "1 bar")
"""Horizons offered for bars of a day or longer."""
FEES = ("10 bps", "5 bps", "20 bps", "none")
ASSUMED_FEE_NOTE = f"The fee of one trade is assumed to be {FEES[0]}. Name other fees in the goal."
LONG_ONLY_NOTE = "Trades with take-profit or stop-loss are long and end when the price reaches one of the two."
VOLATILITY_NOTE = (
    "Volatility is the square root of the summed squared log returns up to the horizon: a share of the price"
    " over that time, not annualised. No backtest is run on it."
)
BACKTEST_NOTE = (
    "Candidates are compared by their forecast metric. The backtest shows the profit of trading on them."
)
_PERFORMANCE = re.compile(
    r"\b(?:sharpe|sortino|calmar|draw-?downs?|(?<!take )(?<!take-)profits?|p ?& ?l|pnl)\b", re.IGNORECASE
)
_UNTRADED_WORDS = frozenset({"volume", "vol", "count", "trades", "turnover", "volatility"})
BAR_COLUMNS = frozenset({"open", "high", "low", "close"})


def is_price_target(target: ScoredColumn, goal: Goal) -> bool:
    """Tell if the target is a forecast price: of stored prices, or the close in a table of bars."""
    if target.table is PRICES:
        return True
    looks_ahead = bool(goal.lookahead) or goal.outlook == "direction"
    return looks_ahead and has_bars(target.table) and target.column.name.casefold() == "close"


def _is_tradable(target: ScoredColumn) -> bool:
    """Tell if the target can be bought. A volume, for example, cannot."""
    return not _UNTRADED_WORDS & set(words(target.column.name))


def has_bars(table: TableProfile) -> bool:
    return {column.name.casefold() for column in table.columns} >= BAR_COLUMNS


def names_trading_terms(goal: Goal) -> bool:
    """Tell if a goal names costs of trades or prices at which they end."""
    return names_barriers(goal.text) or parse_market_terms(goal.text).fee_bps is not None


def ask_coin(view: ConversationView, goal: Goal, target: ScoredColumn) -> AgentAction | None:
    """Ask which coin, if the goal names none that is stored. Offer `none`: the user may have meant another."""
    series = stored_series(view)
    if target.table is not PRICES or not series or select_coins(view, goal) or _answer(view, WHICH_COIN):
        return None
    options = list(dict.fromkeys(entry.coin for entry in series))[:MAX_COIN_OPTIONS]
    missing = " and ".join(coins_in_goal(goal.text, series))
    if not missing and len(options) == 1:
        return None
    return call(
        "ask_user",
        message="The goal does not name a coin."
        if not missing
        else f"There are no stored prices of {missing}.",
        question=f"{WHICH_COIN} {f'None are stored of {missing}.' if missing else 'The goal names none.'}",
        options=[*options, STOP],
        default=STOP if missing else options[0],
    )


def select_coins(view: ConversationView, goal: Goal) -> tuple[str, ...]:
    """Return the stored coins that the goal or the user's answer names, or the only stored one."""
    series = stored_series(view)
    names = list(dict.fromkeys(entry.coin for entry in series))
    named = coins_in_goal(goal.text, series)
    if available := tuple(coin for coin in named if coin in names):
        return available
    if not named and len(names) == 1:
        return (names[0],)
    return tuple(coin for coin in names if coin == _answer(view, WHICH_COIN))


def is_coin_declined(view: ConversationView) -> bool:
    """Tell if the user declined all stored coins."""
    return _answer(view, WHICH_COIN) == STOP


def describe_missing_coin(view: ConversationView, goal: Goal) -> str:
    series = stored_series(view)
    missing = " and ".join(coins_in_goal(goal.text, series)) or "the goal's coin"
    listing = ", ".join(dict.fromkeys(entry.coin for entry in series[:MAX_COIN_OPTIONS]))
    return (
        f"There are no stored prices of {missing}. Import them with `labcrew prices import`. Stored: {listing}."
    )


def ask_horizon(
    view: ConversationView, goal: Goal, target: ScoredColumn, preferences: Mapping[str, Any]
) -> AgentAction | None:
    if target.table is not PRICES or preferences.get("horizon") or find_lookahead(view, goal):
        return None
    series = stored_series(view)
    length = bar_seconds(select_coins(view, goal), series)
    horizons = DAILY_HORIZONS if length and length >= DAY_S else HORIZONS
    return call(
        "ask_user",
        message="The goal does not say how far ahead.",
        question=f"{HOW_FAR} A forecast of prices needs a horizon.",
        options=list(horizons),
        default=horizons[0],
    )


def ask_costs(view: ConversationView, goal: Goal, target: ScoredColumn) -> AgentAction | None:
    is_traded = target.table is PRICES and goal.outlook != "volatility"
    if not is_traded or parse_market_terms(goal.text).fee_bps is not None or _answer(view, WHAT_COSTS):
        return None
    return call(
        "ask_user",
        message="The value of a forecast depends on the trading costs.",
        question=f"{WHAT_COSTS} Fees of one trade in basis points of its value; opening and closing are two.",
        options=list(FEES),
        default=FEES[0],
    )


def find_lookahead(view: ConversationView, goal: Goal) -> Lookahead | None:
    """Return the lookahead of the goal or of the user's answer."""
    text = _answer(view, HOW_FAR) or (f"1 {unit}" if (unit := forecast_unit(goal.text)) else None)
    return goal.lookahead or (parse_goal(f"in {text}").lookahead if text else None)


def add_trading_terms(plan: Plan, view: ConversationView, goal: Goal, target: ScoredColumn) -> Plan:
    """Add coins, bars and trading terms to the plan."""
    terms = parse_market_terms(goal.text)
    changes: dict[str, Any] = {}
    if plan.outlook == "volatility":
        changes["notes"] = [*plan.notes, VOLATILITY_NOTE]
    elif plan.horizon and (
        is_price_target(target, goal) or (terms.fee_bps is not None and _is_tradable(target))
    ):
        answer = _answer(view, WHAT_COSTS)
        notes = [*plan.notes, *([ASSUMED_FEE_NOTE] if answer is None and terms.fee_bps is None else [])]
        notes += [BACKTEST_NOTE] if _PERFORMANCE.search(goal.text) else []
        changes |= {"trading": _make_trading(terms, answer), "every_step": False, "notes": notes}
    if plan.horizon and (barriers := _make_barriers(terms)) and is_price_target(target, goal):
        changes |= {"barriers": barriers, "outlook": "direction", "kind": "classification"}
        changes["trading"] = changes["trading"].model_copy(update={"long_only": True})
        changes["notes"] = [*changes.get("notes", plan.notes), LONG_ONLY_NOTE]
    if plan.source == "prices":
        coins, named = select_coins(view, goal), coins_in_goal(goal.text, stored_series(view))
        if stored_series(view) and (missing := [coin for coin in named if coin not in coins]):
            note = (
                f"There are no stored prices of {' and '.join(missing)}. "
                f"Prices of {' and '.join(coins)} are used instead."
            )
            changes["notes"] = [*changes.get("notes", plan.notes), note]
        coins = coins or named
        changes |= {
            "coins": list(coins),
            "interval": terms.interval,
            "start": terms.start,
            "end": terms.end,
        }
        if not (view.brief.get("preferences") or {}).get("horizon"):
            changes |= _horizon_in_bars(plan, view, goal, terms, coins, changes.get("notes", plan.notes))
        if len(coins) > 1:
            changes["group_column"] = "coin"
    if not changes:
        return plan
    traded = plan.model_copy(update=changes)
    return traded.model_copy(update={"steps": describe_steps(traded)})


def _horizon_in_bars(
    plan: Plan,
    view: ConversationView,
    goal: Goal,
    terms: MarketTerms,
    coins: Sequence[str],
    notes: Sequence[str],
) -> dict[str, Any]:
    """Convert a horizon given as a time to bars of the fetched length."""
    series = stored_series(view)
    length = interval_length_s(terms.interval) if terms.interval else bar_seconds(coins, series)
    if not (length and coins and goal.lookahead and goal.lookahead.seconds and plan.horizon):
        return {}
    bars = bars_ahead(goal.lookahead.seconds, length, coins[0], series)
    if goal.lookahead.seconds >= length:
        return {"horizon": bars}
    note = f"Bars last {interval_name(length)}, longer than the goal's horizon, so one bar ahead is forecast."
    return {"horizon": bars, "notes": [*notes, note]}


def _make_barriers(terms: MarketTerms) -> TradeBarriers | None:
    if terms.take_profit is None and terms.stop_loss is None:
        return None
    return TradeBarriers(take_profit=terms.take_profit or 0.0, stop_loss=terms.stop_loss or 0.0)


def _make_trading(terms: MarketTerms, answer: str | None) -> Trading:
    fee = terms.fee_bps if terms.fee_bps is not None else parse_bps(answer or FEES[0])
    if fee is None:
        fee = parse_bps(FEES[0]) or 0.0
    return Trading(fee_bps=fee, slippage_bps=terms.slippage_bps or 0.0, long_only=terms.long_only)


def _answer(view: ConversationView, question: str) -> str | None:
    for completed in view.successes("ask_user"):
        if str(completed.arguments.get("question", "")).startswith(question):
            return str(completed.value["answer"])
    return None
