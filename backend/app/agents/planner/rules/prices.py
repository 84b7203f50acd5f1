"""Rules about forecasts of stored prices: the coin, the horizon and what a trade costs."""

from app.agents.planner import price_questions
from app.agents.planner.planner_facts import Situation
from app.agents.planner.stored_prices import PRICES, bar_seconds
from app.agents.runtime.offline_policy import AgentAction


def ask_for_coin(situation: Situation) -> AgentAction | None:
    """Ask which coin, if the goal names none that is stored."""
    if not _is_about_prices(situation) or not situation.stored_coins or situation.coins:
        return None
    missing = " and ".join(situation.mentioned_coins)
    if situation.answer_to(price_questions.WHICH_COIN) or (not missing and len(situation.stored_coins) == 1):
        return None
    return price_questions.ask_coin(situation.stored_coins, missing)


def ask_for_horizon(situation: Situation) -> AgentAction | None:
    if not _is_about_prices(situation) or situation.preferences.horizon or situation.lookahead:
        return None
    return price_questions.ask_horizon(bar_seconds(situation.coins, situation.series))


def ask_about_costs(situation: Situation) -> AgentAction | None:
    # Volatility cannot be bought, so that no trade has costs.
    is_traded = _is_about_prices(situation) and situation.goal.outlook != "volatility"
    is_settled = situation.market_terms.fee_bps is not None or situation.answer_to(price_questions.WHAT_COSTS)
    return price_questions.ask_costs() if is_traded and not is_settled else None


def _is_about_prices(situation: Situation) -> bool:
    return situation.target is not None and situation.target.table is PRICES
