"""Coins, horizon and trading terms in the plan of a price forecast."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.agents.goals.columns.target import ScoredColumn
from app.agents.goals.goal import Goal
from app.agents.goals.phrases.trading_terms import MarketTerms, interval_length_s, parse_bps
from app.agents.goals.words.tokenizer import words
from app.agents.planner.output import Plan, TradeBarriers, Trading
from app.agents.planner.planner_facts import Situation
from app.agents.planner.price_questions import FEES, WHAT_COSTS
from app.agents.planner.step_descriptions import describe_steps
from app.agents.planner.stored_prices import PRICES, bar_seconds, bars_ahead, has_bars
from app.computations.bars.interval import interval_name

ASSUMED_FEE_NOTE = f"The fee of one trade is assumed to be {FEES[0]}. Name other fees in the goal."
LONG_ONLY_NOTE = "Trades with take-profit or stop-loss are long and end when the price reaches one of the two."
VOLATILITY_NOTE = (
    "Volatility is the square root of the summed squared log returns up to the horizon: a share of the price"
    " over that time, not annualised. No backtest is run on it."
)
BACKTEST_NOTE = (
    "Candidates are compared by their forecast metric. The backtest shows the profit of trading on them."
)
# "Take profit" is a price at which trades end, and asks for no figure of their performance.
_PERFORMANCE = re.compile(
    r"\b(?:sharpe|sortino|calmar|draw-?downs?|(?<!take )(?<!take-)profits?|p ?& ?l|pnl)\b", re.IGNORECASE
)
_UNTRADED_WORDS = frozenset({"volume", "vol", "count", "trades", "turnover", "volatility"})


@dataclass(frozen=True)
class _PlanChange:
    """Settings to change in a plan, and notes to add to it."""

    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    def apply(self, plan: Plan) -> Plan:
        return plan.model_copy(update={**self.settings, "notes": [*plan.notes, *self.notes]})


def is_price_target(target: ScoredColumn, goal: Goal) -> bool:
    """Tell if the target is a forecast price: of stored prices, or the close in a table of bars."""
    if target.table is PRICES:
        return True
    looks_ahead = bool(goal.lookahead) or goal.outlook == "direction"
    return looks_ahead and has_bars(target.table) and target.column.name.casefold() == "close"


def _is_tradable(target: ScoredColumn) -> bool:
    """Tell if the target can be bought. A volume, for example, cannot."""
    return not _UNTRADED_WORDS & set(words(target.column.name))


def add_trading_terms(plan: Plan, situation: Situation, target: ScoredColumn) -> Plan:
    """Add coins, bars and trading terms to the plan."""
    traded = plan
    for change in (
        _trading_change(plan, situation, target),
        _barriers_change(plan, situation, target),
        _prices_change(plan, situation),
        _horizon_change(plan, situation),
    ):
        traded = change.apply(traded) if change else traded
    return traded if traded is plan else traded.model_copy(update={"steps": describe_steps(traded)})


def _trading_change(plan: Plan, situation: Situation, target: ScoredColumn) -> _PlanChange | None:
    """Return the costs of trades on the forecast; of volatility only a note."""
    if plan.outlook == "volatility":
        return _PlanChange({}, (VOLATILITY_NOTE,))
    terms = situation.market_terms
    is_priced = is_price_target(target, situation.settled_goal)
    if not plan.horizon or not (is_priced or (terms.fee_bps is not None and _is_tradable(target))):
        return None
    answer = situation.answer_to(WHAT_COSTS)
    notes = [ASSUMED_FEE_NOTE] if answer is None and terms.fee_bps is None else []
    notes += [BACKTEST_NOTE] if _PERFORMANCE.search(situation.goal.text) else []
    # A trade ends at the horizon, so the steps before it are not forecast.
    return _PlanChange({"trading": _make_trading(terms, answer), "every_step": False}, tuple(notes))


def _barriers_change(plan: Plan, situation: Situation, target: ScoredColumn) -> _PlanChange | None:
    """Return the profit and loss at which trades end. Such trades are long."""
    terms = situation.market_terms
    barriers = _make_barriers(terms)
    if not plan.horizon or barriers is None or not is_price_target(target, situation.settled_goal):
        return None
    trading = _make_trading(terms, situation.answer_to(WHAT_COSTS)).model_copy(update={"long_only": True})
    settings = {"barriers": barriers, "outlook": "direction", "kind": "classification", "trading": trading}
    return _PlanChange(settings, (LONG_ONLY_NOTE,))


def _prices_change(plan: Plan, situation: Situation) -> _PlanChange | None:
    """Return the coins and the bars to fetch."""
    if plan.source != "prices":
        return None
    terms, coins = situation.market_terms, situation.coins
    missing = [coin for coin in situation.mentioned_coins if coin not in coins] if situation.series else []
    note = (
        f"There are no stored prices of {' and '.join(missing)}. "
        f"Prices of {' and '.join(coins)} are used instead."
    )
    fetched = coins or situation.mentioned_coins
    settings: dict[str, Any] = {
        "coins": list(fetched),
        "interval": terms.interval,
        "start": terms.start,
        "end": terms.end,
    }
    # Bars of several coins are one series each: a lag must not reach from one into another.
    if len(fetched) > 1:
        settings["group_column"] = "coin"
    return _PlanChange(settings, (note,) if missing else ())


def _horizon_change(plan: Plan, situation: Situation) -> _PlanChange | None:
    """Convert a horizon given as a time to bars of the fetched length."""
    if plan.source != "prices" or situation.preferences.horizon:
        return None
    terms, series, lookahead = situation.market_terms, situation.series, situation.lookahead
    coins = situation.coins or situation.mentioned_coins
    bar_s = interval_length_s(terms.interval) if terms.interval else bar_seconds(coins, series)
    if not (bar_s and coins and lookahead and lookahead.seconds and plan.horizon):
        return None
    note = f"Bars last {interval_name(bar_s)}, longer than the goal's horizon, so one bar ahead is forecast."
    return _PlanChange(
        {"horizon": bars_ahead(lookahead.seconds, bar_s, coins[0], series)},
        (note,) if lookahead.seconds < bar_s else (),
    )


def _make_barriers(terms: MarketTerms) -> TradeBarriers | None:
    if terms.take_profit is None and terms.stop_loss is None:
        return None
    return TradeBarriers(take_profit=terms.take_profit or 0.0, stop_loss=terms.stop_loss or 0.0)


def _make_trading(terms: MarketTerms, answer: str | None) -> Trading:
    fee = terms.fee_bps if terms.fee_bps is not None else parse_bps(answer or FEES[0])
    if fee is None:
        fee = parse_bps(FEES[0]) or 0.0
    return Trading(fee_bps=fee, slippage_bps=terms.slippage_bps or 0.0, long_only=terms.long_only)
