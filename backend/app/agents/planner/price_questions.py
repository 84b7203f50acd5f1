"""The planner's questions to the user about forecasts of prices."""

from collections.abc import Sequence

from app.agents.runtime.offline_policy import AgentAction, call
from app.computations.bars.interval import DAY_S

WHICH_COIN = "Which coin's prices should be used?"
HOW_FAR = "How far ahead should prices be forecast?"
WHAT_COSTS = "What does a trade cost?"

NO_COIN = "none, end here"
MAX_COIN_OPTIONS = 49
"""Coins that a question lists: with the option to end, as many as fit 50 options."""
HORIZONS = ("1 hour", "15 minutes", "4 hours", "1 day", "1 bar")
DAILY_HORIZONS = ("1 day", "1 week", "1 month", "1 bar")
"""Horizons offered for bars of a day or longer."""
FEES = ("10 bps", "5 bps", "20 bps", "none")
"""Offered fees of one trade; the first is the usual taker fee of large exchanges for coins."""


def ask_coin(coins: Sequence[str], missing: str) -> AgentAction:
    """Ask for one of the stored `coins`. `missing`: the coins of the goal that are not stored, empty for none.

    The user may also end here, since the goal may mean a coin that is not stored.
    """
    options = coins[:MAX_COIN_OPTIONS]
    return call(
        "ask_user",
        message=f"There are no stored prices of {missing}." if missing else "The goal does not name a coin.",
        question=f"{WHICH_COIN} {f'None are stored of {missing}.' if missing else 'The goal names none.'}",
        options=[*options, NO_COIN],
        default=NO_COIN if missing else options[0],
    )


def ask_horizon(bar_s: int | None) -> AgentAction:
    """Ask for the horizon. `bar_s`: seconds of a bar, if known."""
    horizons = DAILY_HORIZONS if bar_s and bar_s >= DAY_S else HORIZONS
    return call(
        "ask_user",
        message="The goal does not say how far ahead.",
        question=f"{HOW_FAR} A forecast of prices needs a horizon.",
        options=list(horizons),
        default=horizons[0],
    )


def ask_costs() -> AgentAction:
    return call(
        "ask_user",
        message="The value of a forecast depends on the trading costs.",
        question=f"{WHAT_COSTS} Fees of one trade in basis points of its value; opening and closing are two.",
        options=list(FEES),
        default=FEES[0],
    )


def describe_missing_coin(coins: Sequence[str], missing: str) -> str:
    listing = ", ".join(coins[:MAX_COIN_OPTIONS])
    return (
        f"There are no stored prices of {missing or 'the coin in the goal'}. Import them with"
        f" `labcrew prices import`. Stored: {listing}."
    )
