"""Suggestions of features, from the training rows, beyond those that every encoder makes."""

import itertools
import re
from collections.abc import Sequence

import pandas as pd

from app.modeling.analysis.market_features import suggest_market_features
from app.modeling.estimators.encoding.calendar import select_parts
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import RecipeJson, select_inputs
from app.modeling.recipe.time_series import detect_common_season, detect_series_interval, split_series
from app.modeling.recipe.transforms.dates import days_between, to_dates
from app.modeling.recipe.transforms.text import PATTERNS
from app.modeling.table.column_kinds import ColumnKind, column_kind

MAX_DATES = 6
"""Dates whose spans are features: fifteen pairs."""
MANY_CATEGORIES = 15
"""Categories from which their frequency is a feature: with fewer, their own codes say as much."""


def suggest_features(frame: pd.DataFrame, problem: Problem, lookback: Sequence[int] = ()) -> RecipeJson:
    """Suggest a recipe: parts of dates and days between them, patterns of texts, frequencies of categories, and
    history if there is a horizon.

    Words of free text need no feature, because encoders weight them all.
    """
    inputs = select_inputs(frame, problem)
    special = {problem.target, problem.time_column, problem.group_column}
    columns = [str(name) for name in inputs.columns if name not in special]
    kinds = {name: column_kind(inputs[name]) for name in columns}
    recipe: RecipeJson = []
    for name in columns:
        recipe += _text_features(inputs[name], kinds[name])
    frequent_columns = [
        name
        for name in columns
        if kinds[name] is ColumnKind.CATEGORY and inputs[name].nunique() > MANY_CATEGORIES
    ]
    if frequent_columns:
        recipe.append({"op": "frequency", "columns": frequent_columns})
    time_ordered = problem.time_column is not None
    # Before the dates are split, after which they are gone.
    recipe += _spans(inputs, [*([problem.time_column] if time_ordered else []), *columns])
    for name in columns:
        if kinds[name] is ColumnKind.DATETIME and (parts := _calendar(inputs[name], time_ordered)):
            # Of the time column itself they would tell the training rows from all later ones.
            recipe.append({"op": "parse_dates", "columns": [name], "parts": [*parts, "elapsed_days"]})
    is_dated = time_ordered and column_kind(inputs[problem.time_column]) is ColumnKind.DATETIME
    is_dated = is_dated and problem.time_column not in problem.exclude
    if is_dated and (parts := _calendar(inputs[problem.time_column], time_ordered)):
        recipe.append({"op": "parse_dates", "columns": [problem.time_column], "parts": parts, "keep": True})
    if problem.horizon:
        recipe += suggest_history_features(frame, problem, lookback) + suggest_market_features(
            frame, problem, lookback
        )
        recipe += suggest_ahead_features(frame, problem)
    return recipe


def suggest_history_features(frame: pd.DataFrame, problem: Problem, lookback: Sequence[int] = ()) -> RecipeJson:
    """Suggest lags, changes and rolling statistics of the target and up to 8 other numbers."""
    periods = sorted(set(lookback)) or [1, 2, 3, 5]
    inputs = select_inputs(frame, problem)
    numbers = [str(name) for name in inputs.columns if column_kind(inputs[name]) is ColumnKind.NUMBER]
    selected = [name for name in [problem.target, *numbers] if name in numbers]
    # The target first: where there is room for a few columns, its own history says most.
    selected = list(dict.fromkeys(selected))[:8]
    if not selected:
        return []
    # A deviation needs two rows.
    windows = sorted({max(2, periods[-1]), 2 * max(2, periods[-1])})
    return [
        {"op": "lags", "columns": selected[:1], "periods": periods},
        {"op": "changes", "columns": selected, "periods": periods},
        {"op": "rolling", "columns": selected[:4], "windows": windows, "statistics": ["mean", "std"]},
    ]


def suggest_ahead_features(frame: pd.DataFrame, problem: Problem) -> RecipeJson:
    """Suggest facts known in advance of the forecast time, for forecasts of a number."""
    if problem.is_classification or problem.outlook is not Outlook.VALUE or not problem.horizon:
        return []
    series = split_series(frame, problem)
    # Without an even interval the date of a row so many rows ahead is not known.
    rhythm = detect_series_interval(frame, problem, series)
    if rhythm is None:
        return []
    season = detect_common_season(frame, problem, series, rhythm.spacing_s)
    parts = _calendar(frame[problem.time_column], True)
    if season is None and not parts:
        return []
    timing = {"rows": problem.horizon, "season": season, "unit": rhythm.unit.value, "count": rhythm.count}
    return [{"op": "ahead", "column": problem.target, "time": problem.time_column, **timing, "parts": parts}]


def _calendar(dates: pd.Series, time_ordered: bool) -> list[str]:
    """Calendar parts that vary; in time order only recurring ones, and the day of the year if years recur."""
    times = to_dates(dates).dropna()
    if times.empty:
        return []
    parts = [RECIPE_NAMES.get(part, part) for part in select_parts(times, time_ordered)]
    return [*parts, "day_of_year"] if "month" in parts else parts


def _spans(inputs: pd.DataFrame, names: Sequence[str | None]) -> RecipeJson:
    """Suggest the days between each two dates of a row: from booking to arrival, from birth to admission.

    The date that is later in most rows comes first. Spans that are always equal say nothing.
    """
    dates = {
        str(name): to_dates(inputs[name])
        for name in names
        if name is not None and column_kind(inputs[name]) is ColumnKind.DATETIME
    }
    pairs = []
    for first, second in itertools.combinations([*dates][:MAX_DATES], 2):
        days = days_between(dates[first], dates[second]).dropna()
        if days.nunique() > 1:
            pairs.append((first, second) if days.median() >= 0 else (second, first))
    return [{"op": "days_between", "pairs": pairs}] if pairs else []


RECIPE_NAMES = {"day_of_week": "weekday"}
"""Parts of `encoding.calendar` with another name in recipes."""


def _text_features(column: pd.Series, kind: ColumnKind) -> RecipeJson:
    if kind is not ColumnKind.TEXT:
        return []
    name = str(column.name)
    texts = column.dropna().astype("str")
    recipe: RecipeJson = [{"op": "extract", "columns": [name], "what": what} for what in _patterns(texts)]
    if texts.str.count(r"\S+").mean() >= 2:
        recipe.append({"op": "text_stats", "columns": [name]})
    # Short texts that repeat are names or labels; the count of a sentence is 1 nearly always.
    if texts.str.count(r"\S+").mean() < 6 and texts.nunique() < 0.7 * len(texts):
        recipe.append({"op": "frequency", "columns": [name]})
    return recipe


def _patterns(texts: pd.Series) -> list[str]:
    """The patterns that at least 60% of the texts match, with 2 to 100 distinct values that repeat."""
    patterns = []
    for pattern in ("title", "domain", "letters"):
        values = texts.str.extract(PATTERNS[pattern], flags=re.IGNORECASE, expand=False).str.title()
        if values.notna().mean() >= 0.6 and 2 <= values.nunique() <= min(100, len(texts) / 5):
            patterns.append(pattern)
    return patterns
