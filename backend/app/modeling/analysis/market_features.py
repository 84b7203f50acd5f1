"""Which features bars offer beyond those of any series in time."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem

WINDOWS = (12, 48)
MAX_WINDOW = 2_000
BARS = ("open", "high", "low", "close")


def market_features(
    frame: pd.DataFrame, problem: Problem, lookback: Sequence[int] = ()
) -> list[dict[str, Any]]:
    """Volatility where there are bars, and what other coins do where there are several."""
    columns = {str(name).casefold(): str(name) for name in frame.columns if name not in problem.exclude}
    recipe: list[dict[str, Any]] = []
    if set(BARS) <= set(columns):
        named = {key: columns[key] for key in BARS}
        own = {min(problem.horizon or 1, MAX_WINDOW)} if problem.outlook is Outlook.VOLATILITY else set()
        windows = sorted({*WINDOWS, *(length for length in own if length > 1)})
        recipe.append({"op": "volatility", **named, "windows": windows})
        if problem.group_column and frame[problem.group_column].nunique() > 1:
            periods = sorted(set(lookback))[:5] or [1, 5]
            crossed = {"column": columns["close"], "time": problem.time_column, "periods": periods}
            recipe.append({"op": "cross", **crossed})
    return recipe
