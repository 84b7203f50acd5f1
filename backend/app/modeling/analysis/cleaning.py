"""Suggestions of cleaning operations, from the training rows."""

from collections.abc import Sequence

import pandas as pd

from app.modeling.analysis.redundancy import find_redundant
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import RecipeJson, select_inputs
from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.type_inference.class_spellings import canonical_spellings
from app.modeling.type_inference.column_decisions import infer_parser
from app.modeling.type_inference.distinct_values import count_raw_values, is_text

MIN_CLOCK_CORRELATION = 0.999
"""Rank correlation with time from which a number counts as another form of the time."""
MIN_CLOCK_VALUES = 20
"""Distinct values: a number with fewer changes so seldom that later rows may well repeat its last value."""
MAX_RANKED_ROWS = 5000
"""Rows that are ranked: a correlation this close to 1 shows on far fewer."""


def suggest_cleaning(frame: pd.DataFrame, problem: Problem, keep: Sequence[str] = ()) -> RecipeJson:
    """Suggest a cleaning recipe: drop redundant columns, parse numbers and dates, merge spellings, mark missing
    values.

    Columns in `keep` are never dropped. In time order, numbers that follow the time are dropped too.
    """
    inputs = select_inputs(frame, problem)
    special = {problem.target, problem.time_column, problem.group_column}
    columns = [name for name in inputs.columns if name not in special]
    protected = [str(name) for name in (*keep, *special) if name is not None]
    redundant = [redundancy.column for redundancy in find_redundant(inputs, protected) if redundancy.is_certain]
    redundant += [name for name in find_clock_columns(inputs, problem) if name not in (*redundant, *protected)]
    rest = [name for name in columns if name not in redundant]
    numbers = [name for name in rest if is_number_text(inputs[name])]
    dates = [name for name in rest if name not in numbers and is_date_like(inputs[name])]
    # A mark that nearly all rows share, or hardly any has, tells a model nothing.
    missing = [name for name in rest if 0.005 < inputs[name].isna().mean() < 0.995]
    misspelled = [
        name for name in rest if name not in numbers and name not in dates and _has_spellings(inputs[name])
    ]
    recipe: RecipeJson = []
    # Gaps are marked after numbers are read, since an unreadable cell is one, and before dates go into parts.
    for op, names in (
        ("drop", redundant),
        ("to_number", numbers),
        ("merge_spellings", misspelled),
        ("mark_missing", missing),
        ("parse_dates", dates),
    ):
        if names:
            recipe.append({"op": op, "columns": names})
    return recipe


def find_clock_columns(inputs: pd.DataFrame, problem: Problem) -> list[str]:
    """Find numbers that follow the time column, such as a running count: later rows have values unseen in
    training."""
    if problem.time_column is None or problem.horizon:
        return []
    # Evenly spaced rows: a running number rises over the whole file.
    step = max(1, len(inputs) // MAX_RANKED_ROWS)
    inputs = inputs.iloc[::step]
    times = inputs[problem.time_column].rank()
    return [
        str(name)
        for name in inputs.columns
        if name != problem.time_column
        and column_kind(inputs[name]) is ColumnKind.NUMBER
        and inputs[name].nunique() > MIN_CLOCK_VALUES
        and abs(inputs[name].rank().corr(times)) >= MIN_CLOCK_CORRELATION
    ]


def is_number_text(column: pd.Series) -> bool:
    """Test for text that type inference reads as numbers."""
    return _is_text(column) and infer_parser(column) == "read_number"


def is_date_like(column: pd.Series) -> bool:
    """Test for dates, or for text that type inference reads as dates."""
    if column_kind(column) is ColumnKind.DATETIME:
        return True
    return _is_text(column) and infer_parser(column) == "read_date"


def _has_spellings(column: pd.Series) -> bool:
    """Test for categories of which some have several spellings."""
    if not _is_text(column) or column_kind(column) is not ColumnKind.CATEGORY:
        return False
    return bool(canonical_spellings(count_raw_values(column)))


def _is_text(column: pd.Series) -> bool:
    return is_text(column) and column_kind(column) in (ColumnKind.CATEGORY, ColumnKind.TEXT)
