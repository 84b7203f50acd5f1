"""What a training frame looks like, before anything is decided."""

from typing import Any

import pandas as pd

from app.modeling.cleaning import suggest_cleaning
from app.modeling.columns import Holds, holds
from app.modeling.features import suggest_features
from app.modeling.findings import correlations, findings_of
from app.modeling.labels import labels_of
from app.modeling.leaks import screen
from app.modeling.operations.columns import as_text
from app.modeling.operations.step import quiet_float
from app.modeling.plain import plain, rounded
from app.modeling.preview import apply_recipe
from app.modeling.problem import Problem
from app.modeling.recipe import RecipeJson, inputs_of
from app.modeling.relations import relations
from app.modeling.results import ColumnProfile, EdaFacts


def explore(frame: pd.DataFrame, problem: Problem, recipe: RecipeJson, seed: int = 0) -> EdaFacts:
    """Columns, findings, leaks and suggestions, all from training rows."""
    seen = apply_recipe(frame, problem, recipe) if recipe else frame
    inputs = inputs_of(seen, problem)
    found = relations(frame, problem, seed)
    columns = [_profile(inputs[name], found.get(str(name))) for name in inputs.columns]
    return {
        "rows": len(frame),
        "columns": columns,
        "findings": findings_of(seen, problem),
        "leaks": screen(frame, problem, found),
        "target": target_summary(frame, problem),
        "correlations": correlations(inputs),
        "suggested_cleaning": suggest_cleaning(frame, problem),
        "suggested_features": suggest_features(frame, problem),
        "figures": [],
    }


def target_summary(frame: pd.DataFrame, problem: Problem) -> dict[str, Any]:
    """Counts of classes, or mean, spread and quantiles of the numbers, over labelled rows."""
    labels = labels_of(frame, problem).dropna()
    if problem.is_classification:
        names = problem.classes or ()
        return {"classes": {str(name): int((labels == place).sum()) for place, name in enumerate(names)}}
    return numbers_summary(labels)


def numbers_summary(values: pd.Series) -> dict[str, Any]:
    known = values.dropna()
    return {
        "mean": rounded(known.mean()),
        "std": rounded(known.std()),
        "min": rounded(known.min()),
        "median": rounded(known.median()),
        "max": rounded(known.max()),
    }


def _profile(column: pd.Series, relation: float | None) -> ColumnProfile:
    kind = holds(column)
    summary: dict[str, Any] = {}
    if kind is Holds.NUMBER:
        summary = numbers_summary(quiet_float(column))
    elif kind is Holds.DATETIME:
        summary = plain({"min": column.min(), "max": column.max()})
    elif kind is not Holds.EMPTY:
        summary = {"top": {str(k): int(v) for k, v in as_text(column).value_counts().head(10).items()}}
    return {
        "name": str(column.name),
        "type": kind.value,
        "missing": rounded(float(column.isna().mean())) or 0.0,
        "distinct": int(column.nunique()),
        "summary": summary,
        "relation": relation,
    }
