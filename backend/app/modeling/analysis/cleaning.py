"""Which cleaning operations a frame needs, judged from its training rows."""

from collections.abc import Sequence

import pandas as pd

from app.modeling.analysis.redundancy import find_redundant
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import RecipeJson, select_inputs
from app.modeling.table.columns import ColumnKind, column_kind

IN_STEP = 0.999
"""Rank correlation with time from which on a number is the time in other words."""
MIN_TICKS = 20
"""A number of fewer values changes too seldom: the last of them may well stay."""
MAX_RANKED = 5000


def suggest_cleaning(frame: pd.DataFrame, problem: Problem, keep: Sequence[str] = ()) -> RecipeJson:
    """Drop what says nothing, read numbers and dates that came as text, merge spellings, mark what is missing.

    Columns in `keep` are never dropped. In time order, so is a number that is the time in other words.
    """
    inputs = select_inputs(frame, problem)
    special = {problem.target, problem.time_column, problem.group_column}
    columns = [name for name in inputs.columns if name not in special]
    never = [str(name) for name in (*keep, *special) if name is not None]
    silent = [one.column for one in find_redundant(inputs, never) if one.is_certain]
    silent += [name for name in clocks(inputs, problem) if name not in (*silent, *never)]
    rest = [name for name in columns if name not in silent]
    numbers = [name for name in rest if reads_as_number(inputs[name])]
    dates = [name for name in rest if name not in numbers and reads_as_date(inputs[name])]
    missing = [name for name in rest if 0.005 < inputs[name].isna().mean() < 0.995]
    spelled = [
        name for name in rest if name not in numbers and name not in dates and _has_spellings(inputs[name])
    ]
    recipe: RecipeJson = []
    for op, names in (
        ("drop", silent),
        ("to_number", numbers),
        ("merge_spellings", spelled),
        ("mark_missing", missing),
        ("parse_dates", dates),
    ):
        if names:
            recipe.append({"op": op, "columns": names})
    return recipe


def clocks(inputs: pd.DataFrame, problem: Problem) -> list[str]:
    """Numbers that follow the time column, as a running count does: no later row has a value that taught."""
    if problem.time_column is None or problem.horizon:
        return []
    step = max(1, len(inputs) // MAX_RANKED)
    inputs = inputs.iloc[::step]
    times = inputs[problem.time_column].rank()
    return [
        str(name)
        for name in inputs.columns
        if name != problem.time_column
        and column_kind(inputs[name]) is ColumnKind.NUMBER
        and inputs[name].nunique() > MIN_TICKS
        and abs(inputs[name].rank().corr(times)) >= IN_STEP
    ]


def _texts(column: pd.Series) -> pd.Series | None:
    if column_kind(column) not in (ColumnKind.CATEGORY, ColumnKind.TEXT) or pd.api.types.is_numeric_dtype(
        column.dtype
    ):
        return None
    return column.dropna().astype("str")


def reads_as_number(column: pd.Series) -> bool:
    """Text, and at least 95% of it numbers, with or without a currency sign, thousands and percent signs."""
    texts = _texts(column)
    if texts is None:
        return False
    pattern = r"\s*[-+]?[$€£]?\s*\d{1,3}(?:,?\d{3})*(?:\.\d+)?\s*%?\s*"
    return bool(texts.str.fullmatch(pattern).mean() >= 0.95)


def reads_as_date(column: pd.Series) -> bool:
    """Dates, or text of which at least 95% look like `2024-05-31`, `31.05.2024` or `5/31/24`."""
    if column_kind(column) is ColumnKind.DATETIME:
        return True
    texts = _texts(column)
    if texts is None:
        return False
    return bool(texts.str.match(r"\s*(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[/.]\d{1,2}[/.]\d{2,4})").mean() >= 0.95)


def _has_spellings(column: pd.Series) -> bool:
    texts = _texts(column)
    if texts is None or column_kind(column) is not ColumnKind.CATEGORY:
        return False
    return bool(texts.str.strip().str.lower().nunique() < texts.nunique())
