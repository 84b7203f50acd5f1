"""Bars of coins without a provider: see which there are, ask where the plan leaves it open, fetch them."""

from app.agents.planner.output import Plan
from app.agents.runtime.conversation import View
from app.agents.runtime.policy import AgentAction, call
from app.datasets.price_series import known_coin


def see(view: View) -> AgentAction | None:
    if _plan(view).source != "prices" or view.tried("get_available_coins"):
        return None
    return call("get_available_coins")


def ask_which(view: View) -> AgentAction | None:
    """Which coin, when none of the planned ones is there."""
    there = _there(view)
    if _plan(view).source != "prices" or chosen(view) or not there or view.tried("ask_user"):
        return None
    planned = _plan(view).coins
    missing = f"There are no prices of {_listed(planned)}. " if planned else ""
    return call("ask_user", question=f"{missing}Which coin's prices?", options=there, default=there[0])


def fetch(view: View) -> AgentAction | None:
    plan, coins = _plan(view), chosen(view)
    if plan.source != "prices" or not coins or view.tried("fetch_price_data"):
        return None
    said = {"start": plan.start, "end": plan.end, "interval": plan.interval}
    return call("fetch_price_data", coins=coins, **{name: value for name, value in said.items() if value})


def chosen(view: View) -> list[str]:
    """Those of the plan's coins that there are bars of, else the one that was answered, else the only one."""
    there, planned = _there(view), _plan(view).coins
    found = [coin for wanted in planned if (coin := known_coin(wanted, there))]
    if found:
        return list(dict.fromkeys(found))
    if answer := view.last("ask_user"):
        return [str(answer.value["answer"])]
    return there if len(there) == 1 and not planned else []


def note(view: View, plan: Plan) -> str:
    """What is fetched in place of what was planned."""
    missing = [coin for coin in plan.coins if known_coin(coin, _there(view)) is None]
    if not missing:
        return ""
    return f"There are no prices of {_listed(missing)}, so these are {_listed(chosen(view))}'s."


def _plan(view: View) -> Plan:
    return Plan.model_validate(view.brief["plan"])


def _there(view: View) -> list[str]:
    listed = view.last("get_available_coins")
    return list(dict.fromkeys(entry["coin"] for entry in listed.value["coins"])) if listed else []


def _listed(coins: list[str]) -> str:
    return " and ".join(coins)
