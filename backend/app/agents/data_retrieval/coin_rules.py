"""Rules of the offline policy that fetch stored price bars, asking for the coin if the plan names none."""

from app.agents.data_retrieval.brief import AvailableCoins, RetrievalBrief
from app.agents.planner.output import Plan
from app.agents.runtime.conversation import ConversationView, UserAnswer
from app.agents.runtime.offline_policy import AgentAction, call
from app.datasets.price_series import find_coin


def list_coins(view: ConversationView[RetrievalBrief]) -> AgentAction | None:
    if view.brief.plan.source != "prices" or view.was_called("get_available_coins"):
        return None
    return call("get_available_coins")


def ask_for_coin(view: ConversationView[RetrievalBrief]) -> AgentAction | None:
    """Ask for a coin if no planned coin has stored prices."""
    available = _available_coins(view)
    if view.brief.plan.source != "prices" or select_coins(view) or not available or view.was_called("ask_user"):
        return None
    planned = view.brief.plan.coins
    missing = f"There are no stored prices of {_join_names(planned)}. " if planned else ""
    return call(
        "ask_user", question=f"{missing}Which coin should be used?", options=available, default=available[0]
    )


def fetch_prices(view: ConversationView[RetrievalBrief]) -> AgentAction | None:
    plan, coins = view.brief.plan, select_coins(view)
    if plan.source != "prices" or not coins or view.was_called("fetch_price_data"):
        return None
    options = {"start": plan.start, "end": plan.end, "interval": plan.interval}
    return call("fetch_price_data", coins=coins, **{name: value for name, value in options.items() if value})


def select_coins(view: ConversationView[RetrievalBrief]) -> list[str]:
    """Return the planned coins with stored prices, else the user's answer, else the only stored coin."""
    available, planned = _available_coins(view), view.brief.plan.coins
    matches = [coin for name in planned if (coin := find_coin(name, available))]
    if matches:
        return list(dict.fromkeys(matches))
    if answer := view.last_success("ask_user"):
        return [answer.read(UserAnswer).answer]
    # The only stored coin is no substitute for another one that was planned: that is asked.
    return available if len(available) == 1 and not planned else []


def describe_substitution(view: ConversationView[RetrievalBrief], plan: Plan) -> str:
    """Describe which coins replace planned coins without stored prices; empty if none is missing."""
    missing = [coin for coin in plan.coins if find_coin(coin, _available_coins(view)) is None]
    if not missing:
        return ""
    substitutes = _join_names(select_coins(view))
    return f"There are no stored prices of {_join_names(missing)}. Prices of {substitutes} are used instead."


def _available_coins(view: ConversationView[RetrievalBrief]) -> list[str]:
    listing = view.last_success("get_available_coins")
    return list(dict.fromkeys(entry.coin for entry in listing.read(AvailableCoins).coins)) if listing else []


def _join_names(coins: list[str]) -> str:
    return " and ".join(coins)
