"""Which features a frame offers, judged from its training rows, beyond what every encoder makes by itself."""

from collections.abc import Sequence

import pandas as pd

from app.modeling.analysis.market_features import market_features
from app.modeling.estimators.encoding.calendar import select_parts
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import RecipeJson, select_inputs
from app.modeling.recipe.series import detect_common_season, detect_series_interval, split_series
from app.modeling.recipe.transforms.dates import to_dates
from app.modeling.recipe.transforms.text import PATTERNS
from app.modeling.table.columns import ColumnKind, column_kind

MANY_CATEGORIES = 15


def suggest_features(frame: pd.DataFrame, problem: Problem, lookback: Sequence[int] = ()) -> RecipeJson:
    """Parts of dates, what texts and names say, shares of categories, and the past where there is a horizon.

    Words of free text need no feature: encoders weigh them all.
    """
    inputs = select_inputs(frame, problem)
    special = {problem.target, problem.time_column, problem.group_column}
    columns = [str(name) for name in inputs.columns if name not in special]
    of = {name: column_kind(inputs[name]) for name in columns}
    recipe: RecipeJson = []
    for name in columns:
        recipe += _text_features(inputs[name], of[name])
    many = [
        name for name in columns if of[name] is ColumnKind.CATEGORY and inputs[name].nunique() > MANY_CATEGORIES
    ]
    if many:
        recipe.append({"op": "frequency", "columns": many})
    in_order = problem.time_column is not None
    for name in columns:
        if of[name] is ColumnKind.DATETIME and (parts := _calendar(inputs[name], in_order)):
            recipe.append({"op": "parse_dates", "columns": [name], "parts": [*parts, "elapsed_days"]})
    if in_order and (parts := _calendar(inputs[problem.time_column], in_order)):
        recipe.append({"op": "parse_dates", "columns": [problem.time_column], "parts": parts, "keep": True})
    if problem.horizon:
        recipe += history_features(frame, problem, lookback) + market_features(frame, problem, lookback)
        recipe += ahead_features(frame, problem)
    return recipe


def history_features(frame: pd.DataFrame, problem: Problem, lookback: Sequence[int] = ()) -> RecipeJson:
    """Lags, changes and rolling statistics of the target and up to 8 other numbers."""
    periods = sorted(set(lookback)) or [1, 2, 3, 5]
    inputs = select_inputs(frame, problem)
    numbers = [str(name) for name in inputs.columns if column_kind(inputs[name]) is ColumnKind.NUMBER]
    chosen = [name for name in [problem.target, *numbers] if name in numbers]
    chosen = list(dict.fromkeys(chosen))[:8]
    if not chosen:
        return []
    windows = sorted({max(2, periods[-1]), 2 * max(2, periods[-1])})
    return [
        {"op": "lags", "columns": chosen[:1], "periods": periods},
        {"op": "changes", "columns": chosen, "periods": periods},
        {"op": "rolling", "columns": chosen[:4], "windows": windows, "statistics": ["mean", "std"]},
    ]


def ahead_features(frame: pd.DataFrame, problem: Problem) -> RecipeJson:
    """What is known already of the moment that is forecast, where a number is."""
    if problem.is_classification or problem.outlook is not Outlook.VALUE or not problem.horizon:
        return []
    series = split_series(frame, problem)
    rhythm = detect_series_interval(frame, problem, series)
    if rhythm is None:
        return []
    season = detect_common_season(frame, problem, series, rhythm.spacing_s)
    parts = _calendar(frame[problem.time_column], True)
    if season is None and not parts:
        return []
    told = {"rows": problem.horizon, "season": season, "unit": rhythm.unit.value, "count": rhythm.count}
    return [{"op": "ahead", "column": problem.target, "time": problem.time_column, **told, "parts": parts}]


def _calendar(dates: pd.Series, in_order: bool) -> list[str]:
    """Parts that vary; in time order those that come again, and the season by its day where years are known."""
    known = to_dates(dates).dropna()
    if known.empty:
        return []
    parts = [NAMED.get(part, part) for part in select_parts(known, in_order)]
    return [*parts, "day_of_year"] if "month" in parts else parts


NAMED = {"day_of_week": "weekday"}
"""Parts of `encoding.calendar` that a recipe calls otherwise."""


def _text_features(column: pd.Series, kind: ColumnKind) -> RecipeJson:
    if kind is not ColumnKind.TEXT:
        return []
    name = str(column.name)
    texts = column.dropna().astype("str")
    recipe: RecipeJson = [{"op": "extract", "columns": [name], "what": what} for what in _patterns(texts)]
    if texts.str.count(r"\S+").mean() >= 2:
        recipe.append({"op": "text_stats", "columns": [name]})
    if texts.str.count(r"\S+").mean() < 6 and texts.nunique() < 0.7 * len(texts):
        recipe.append({"op": "frequency", "columns": [name]})
    return recipe


def _patterns(texts: pd.Series) -> list[str]:
    """The patterns that at least 60% of the texts match and that give 2 to 100 values that repeat."""
    found = []
    for what in ("title", "domain", "letters"):
        values = texts.str.extract(PATTERNS[what], flags=2, expand=False).str.title()
        if values.notna().mean() >= 0.6 and 2 <= values.nunique() <= min(100, len(texts) / 5):
            found.append(what)
    return found
