"""The resources of a session's budget, and the limits of a new one. Pure.

Apart from the ledger, since settings need them and no event or question.
"""

from collections.abc import Mapping
from enum import StrEnum

from app.errors import InvalidInput


class Resource(StrEnum):
    TOKENS = "tokens"
    COST = "cost_usd"
    TOOL_CALLS = "tool_calls"
    SECONDS = "seconds"


Amounts = Mapping[Resource, float]


def resolve_budget(
    requested: Mapping[str, float | None], default: Mapping[str, float], maximum: Amounts
) -> dict[str, float]:
    """Return the budget of a new session by resource: the requested limits, otherwise the defaults.

    A default is capped at `maximum`. A resource without any of the three has no limit. Raises InvalidInput if
    a request exceeds `maximum`.
    """
    budget: dict[str, float] = {}
    for resource in Resource:
        amount, bound = requested.get(resource.value), maximum.get(resource)
        if amount is not None and bound is not None and amount > bound:
            raise InvalidInput(
                "budget_too_large",
                f"preferences.budget.{resource} is {amount:g}, and this service allows {bound:g} at most.",
                field=f"preferences.budget.{resource}",
                limit=bound,
            )
        fallbacks = [limit for limit in (default.get(resource.value), bound) if limit is not None]
        if amount is not None or fallbacks:
            budget[resource.value] = amount if amount is not None else min(fallbacks)
    return budget
