"""Forecasts of prices: what must be known to trade on them, asked for where the goal does not say it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.agents.goals.goal import Ahead, Goal, read_goal
from app.agents.goals.stemming import words
from app.agents.goals.tables import Table
from app.agents.goals.target import Scored
from app.agents.goals.trading_terms import Wanted, bps_of, names_barriers, rhythm_of, seconds_of, wanted_of
from app.agents.planner.output import Barriers, Plan, Trading
from app.agents.planner.plan import PRICES, steps
from app.agents.planner.stored_prices import bar_seconds, bars_ahead, named, stored
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.policy import AgentAction, call
from app.computations.bars.interval import DAY_S, interval_name

WHICH_COIN = "Whose prices shall I take?"
NOTHING = "none, end here"
MAX_COINS = 49
HOW_FAR = "How far ahead shall I look?"
WHAT_COSTS = "What does a trade cost?"
HORIZONS = ("1 hour", "15 minutes", "4 hours", "1 day", "1 bar")
DAYS = ("1 day", "1 week", "1 month", "1 bar")
"""Of bars of a day or longer."""
FEES = ("10 bps", "5 bps", "20 bps", "none")
ASSUMED = f"Trades are taken to cost {FEES[0]} each; name other fees in the goal."
LONG = "Trades with a profit and a loss to stop at are long, and end when the price reaches one of the two."
REALISED = (
    "Volatility is the root of the summed squared log returns from now to the horizon: a share of the price"
    " over that time, not annualised, and not traded on."
)
COMPARED = "Candidates are compared by how well they forecast; what trading on that earns, the backtest tells."
_PERFORMANCE = re.compile(
    r"\b(?:sharpe|sortino|calmar|draw-?downs?|(?<!take )(?<!take-)profits?|p ?& ?l|pnl)\b", re.IGNORECASE
)
_NO_PRICE = frozenset({"volume", "vol", "count", "trades", "turnover", "volatility"})
BARS = frozenset({"open", "high", "low", "close"})


def is_of_prices(target: Scored, goal: Goal) -> bool:
    """The lab's own prices, or a table of bars whose close is looked ahead at."""
    if target.table is PRICES:
        return True
    looks_ahead = bool(goal.ahead) or goal.outlook == "direction"
    return looks_ahead and holds_bars(target.table) and target.column.name.casefold() == "close"


def _is_traded(target: Scored) -> bool:
    """A volume goes up and down, and nobody can buy it."""
    return not _NO_PRICE & set(words(target.column.name))


def holds_bars(table: Table) -> bool:
    return {column.name.casefold() for column in table.columns} >= BARS


def names_terms(goal: Goal) -> bool:
    """Does a goal say what trades cost or where they end?"""
    return names_barriers(goal.text) or wanted_of(goal.text).fee_bps is not None


def ask_coin(view: ConversationView, goal: Goal, target: Scored) -> AgentAction | None:
    """Whose prices, where the goal names none that are stored; who names others may well want none of these."""
    there = stored(view)
    if target.table is not PRICES or not there or coins_of(view, goal) or _answer(view, WHICH_COIN):
        return None
    options = list(dict.fromkeys(one.coin for one in there))[:MAX_COINS]
    missing = " and ".join(named(goal.text, there))
    if not missing and len(options) == 1:
        return None
    return call(
        "ask_user",
        message="The goal does not say whose prices." if not missing else f"There are no prices of {missing}.",
        question=f"{WHICH_COIN} {f'There are none of {missing}.' if missing else 'The goal names none.'}",
        options=[*options, NOTHING],
        default=NOTHING if missing else options[0],
    )


def coins_of(view: ConversationView, goal: Goal) -> tuple[str, ...]:
    """The stored coins that the goal or its user names, or the only one there is."""
    there = stored(view)
    names = list(dict.fromkeys(one.coin for one in there))
    wanted = named(goal.text, there)
    if found := tuple(coin for coin in wanted if coin in names):
        return found
    if not wanted and len(names) == 1:
        return (names[0],)
    return tuple(coin for coin in names if coin == _answer(view, WHICH_COIN))


def without_coin(view: ConversationView) -> bool:
    """Did its user want none of the stored ones?"""
    return _answer(view, WHICH_COIN) == NOTHING


def not_stored(view: ConversationView, goal: Goal) -> str:
    there = stored(view)
    missing = " and ".join(named(goal.text, there)) or "what the goal is about"
    listed = ", ".join(dict.fromkeys(one.coin for one in there[:MAX_COINS]))
    return f"There are no prices of {missing}; import them (`labcrew prices import`). There are {listed}."


def ask_horizon(
    view: ConversationView, goal: Goal, target: Scored, wishes: Mapping[str, Any]
) -> AgentAction | None:
    if target.table is not PRICES or wishes.get("horizon") or ahead_of(view, goal):
        return None
    there = stored(view)
    length = bar_seconds(coins_of(view, goal), there)
    horizons = DAYS if length and length >= DAY_S else HORIZONS
    return call(
        "ask_user",
        message="The goal does not say how far ahead.",
        question=f"{HOW_FAR} A forecast of prices needs a horizon.",
        options=list(horizons),
        default=horizons[0],
    )


def ask_costs(view: ConversationView, goal: Goal, target: Scored) -> AgentAction | None:
    is_traded = target.table is PRICES and goal.outlook != "volatility"
    if not is_traded or wanted_of(goal.text).fee_bps is not None or _answer(view, WHAT_COSTS):
        return None
    return call(
        "ask_user",
        message="Whether a forecast is worth anything depends on what trading costs.",
        question=f"{WHAT_COSTS} Fees of one trade in basis points of its value; opening and closing are two.",
        options=list(FEES),
        default=FEES[0],
    )


def ahead_of(view: ConversationView, goal: Goal) -> Ahead | None:
    """How far ahead, as the goal or its user says."""
    said = _answer(view, HOW_FAR) or (f"1 {unit}" if (unit := rhythm_of(goal.text)) else None)
    return goal.ahead or (read_goal(f"in {said}").ahead if said else None)


def with_market(plan: Plan, view: ConversationView, goal: Goal, target: Scored) -> Plan:
    """The plan with its coins, bars and terms of trade."""
    wanted = wanted_of(goal.text)
    changes: dict[str, Any] = {}
    if plan.outlook == "volatility":
        changes["notes"] = [*plan.notes, REALISED]
    elif plan.horizon and (is_of_prices(target, goal) or (wanted.fee_bps is not None and _is_traded(target))):
        answer = _answer(view, WHAT_COSTS)
        notes = [*plan.notes, *([ASSUMED] if answer is None and wanted.fee_bps is None else [])]
        notes += [COMPARED] if _PERFORMANCE.search(goal.text) else []
        changes |= {"trading": _terms(wanted, answer), "every_step": False, "notes": notes}
    if plan.horizon and (barriers := _barriers(wanted)) and is_of_prices(target, goal):
        changes |= {"barriers": barriers, "outlook": "direction", "kind": "classification"}
        changes["trading"] = changes["trading"].model_copy(update={"long_only": True})
        changes["notes"] = [*changes.get("notes", plan.notes), LONG]
    if plan.source == "prices":
        coins, asked = coins_of(view, goal), named(goal.text, stored(view))
        if stored(view) and (missing := [coin for coin in asked if coin not in coins]):
            lacking = f"There are no prices of {' and '.join(missing)}, so these are {' and '.join(coins)}'s."
            changes["notes"] = [*changes.get("notes", plan.notes), lacking]
        coins = coins or asked
        changes |= {
            "coins": list(coins),
            "interval": wanted.interval,
            "start": wanted.start,
            "end": wanted.end,
        }
        if not (view.brief.get("preferences") or {}).get("horizon"):
            changes |= _in_bars(plan, view, goal, wanted, coins, changes.get("notes", plan.notes))
        if len(coins) > 1:
            changes["group_column"] = "coin"
    if not changes:
        return plan
    made = plan.model_copy(update=changes)
    return made.model_copy(update={"steps": steps(made)})


def _in_bars(
    plan: Plan, view: ConversationView, goal: Goal, wanted: Wanted, coins: Sequence[str], notes: Sequence[str]
) -> dict[str, Any]:
    """The horizon in bars as long as those that will be fetched, where the goal says it as a time."""
    there = stored(view)
    length = seconds_of(wanted.interval) if wanted.interval else bar_seconds(coins, there)
    if not (length and coins and goal.ahead and goal.ahead.seconds and plan.horizon):
        return {}
    bars = bars_ahead(goal.ahead.seconds, length, coins[0], there)
    if goal.ahead.seconds >= length:
        return {"horizon": bars}
    far = f"Bars last {interval_name(length)}, which is longer than the goal looks ahead: one bar is foretold."
    return {"horizon": bars, "notes": [*notes, far]}


def _barriers(wanted: Wanted) -> Barriers | None:
    if wanted.take_profit is None and wanted.stop_loss is None:
        return None
    return Barriers(take_profit=wanted.take_profit or 0.0, stop_loss=wanted.stop_loss or 0.0)


def _terms(wanted: Wanted, answer: str | None) -> Trading:
    fee = wanted.fee_bps if wanted.fee_bps is not None else bps_of(answer or FEES[0])
    if fee is None:
        fee = bps_of(FEES[0]) or 0.0
    return Trading(fee_bps=fee, slippage_bps=wanted.slippage_bps or 0.0, long_only=wanted.long_only)


def _answer(view: ConversationView, question: str) -> str | None:
    for answered in view.successes("ask_user"):
        if str(answered.arguments.get("question", "")).startswith(question):
            return str(answered.value["answer"])
    return None
