"""What a training frame looks like, before anything is decided."""

from typing import Any

import numpy as np
import pandas as pd

from app.modeling.analysis.cleaning import suggest_cleaning
from app.modeling.analysis.findings import correlations, findings_of
from app.modeling.analysis.leakage.columns import screen
from app.modeling.analysis.preview import apply_recipe
from app.modeling.analysis.suggested_features import suggest_features
from app.modeling.analysis.univariate import relations
from app.modeling.labels.labels import make_labels
from app.modeling.problem.problem import Problem
from app.modeling.problem.results import ColumnProfile, EdaFacts
from app.modeling.recipe.recipe import RecipeJson, select_inputs
from app.modeling.recipe.transforms.columns import to_category_text
from app.modeling.table.column_stats import ColumnStats
from app.modeling.table.columns import ColumnKind, column_kind
from app.modeling.table.json_values import round_significant, to_json_value
from app.modeling.table.sampling import sample_rows

MAX_ROWS = 20_000
MAX_CELLS = 3_000_000


def explore(frame: pd.DataFrame, problem: Problem, recipe: RecipeJson, seed: int = 0) -> EdaFacts:
    """Columns, findings, leaks and suggestions, all from training rows.

    Of many rows a part is looked at (`looked_at`); gaps and classes are counted in all.
    """
    looked = frame.iloc[_looked_at(frame, problem, seed)]
    seen = apply_recipe(looked, problem, recipe) if recipe else looked
    inputs = select_inputs(seen, problem)
    found = relations(looked, problem, seed)
    missing = select_inputs(frame, problem).isna().mean()
    profiles = [
        _profile(inputs[name], found.get(str(name)), missing.get(name) if not recipe else None)
        for name in inputs.columns
    ]
    return {
        "rows": len(frame),
        "looked_at": len(looked),
        "columns": profiles,
        "findings": findings_of(seen, problem, len(frame)),
        "leaks": screen(looked, problem, found),
        "target": target_summary(frame, problem),
        "correlations": correlations(inputs),
        "suggested_cleaning": suggest_cleaning(looked, problem),
        "suggested_features": suggest_features(looked, problem),
        "figures": [],
    }


def _looked_at(frame: pd.DataFrame, problem: Problem, seed: int) -> np.ndarray:
    """Rows at random, in the order of the file; the latest where features look back."""
    most = int(np.clip(MAX_CELLS // max(frame.shape[1], 1), 1_000, MAX_ROWS))
    if problem.horizon:
        return np.arange(max(0, len(frame) - most), len(frame))
    return sample_rows(len(frame), most, seed)


def target_summary(frame: pd.DataFrame, problem: Problem) -> dict[str, Any]:
    """Counts of classes, or mean, spread and quantiles of the numbers, over labelled rows."""
    labels = make_labels(frame, problem).dropna()
    if problem.is_classification:
        names = problem.classes or ()
        return {"classes": {str(name): int((labels == place).sum()) for place, name in enumerate(names)}}
    return numbers_summary(labels)


def numbers_summary(values: pd.Series) -> dict[str, Any]:
    return _in_figures(ColumnStats.from_column(values))


def _in_figures(measure: ColumnStats) -> dict[str, Any]:
    known = measure.sorted_values
    return {
        "mean": round_significant(known.mean()) if len(known) else None,
        "std": round_significant(known.std(ddof=1)) if len(known) > 1 else None,
        "min": round_significant(measure.quantile(0)),
        "median": round_significant(measure.quantile(0.5)),
        "max": round_significant(measure.quantile(1)),
    }


def _profile(column: pd.Series, relation: float | None, missing: float | None = None) -> ColumnProfile:
    kind = column_kind(column)
    summary: dict[str, Any] = {}
    distinct = None
    if kind is ColumnKind.NUMBER:
        measure = ColumnStats.from_column(column)
        summary, distinct = _in_figures(measure), measure.distinct_count
    elif kind is ColumnKind.DATETIME:
        summary = to_json_value({"min": column.min(), "max": column.max()})
    elif kind is not ColumnKind.EMPTY:
        summary = {"top": {str(k): int(v) for k, v in to_category_text(column).value_counts().head(10).items()}}
    return {
        "name": str(column.name),
        "type": kind.value,
        "missing": round_significant(float(column.isna().mean() if missing is None else missing)) or 0.0,
        "distinct": int(column.nunique()) if distinct is None else distinct,
        "summary": summary,
        "relation": relation,
    }
