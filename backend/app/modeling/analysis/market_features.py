"""Features of bars beyond those of any time series."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem

WINDOWS = (12, 48)
MAX_WINDOW = 2_000
"""Rows: a longer window leaves too few complete ones in the training rows."""
BARS = ("open", "high", "low", "close")


def suggest_market_features(
    frame: pd.DataFrame, problem: Problem, lookback: Sequence[int] = ()
) -> list[dict[str, Any]]:
    """Suggest volatility if the columns are bars, and the changes of other coins if there are several."""
    columns = {str(name).casefold(): str(name) for name in frame.columns if name not in problem.exclude}
    recipe: list[dict[str, Any]] = []
    if set(BARS) <= set(columns):
        prices = {key: columns[key] for key in BARS}
        target_window = (
            {min(problem.horizon or 1, MAX_WINDOW)} if problem.outlook is Outlook.VOLATILITY else set()
        )
        windows = sorted({*WINDOWS, *(length for length in target_window if length > 1)})
        recipe.append({"op": "volatility", **prices, "windows": windows})
        if problem.group_column and frame[problem.group_column].nunique() > 1:
            periods = sorted(set(lookback))[:5] or [1, 5]
            options = {"column": columns["close"], "time": problem.time_column, "periods": periods}
            recipe.append({"op": "cross", **options})
    return recipe
