"""What a training frame looks like, before anything is decided."""

from typing import Any

import numpy as np
import pandas as pd

from app.modeling.cleaning import suggest_cleaning
from app.modeling.columns import Holds, holds
from app.modeling.features import suggest_features
from app.modeling.labels import labels_of
from app.modeling.leaks import screen
from app.modeling.operations.columns import as_text
from app.modeling.operations.step import quiet_float
from app.modeling.plain import plain, rounded
from app.modeling.preview import apply_recipe
from app.modeling.problem import Problem
from app.modeling.recipe import RecipeJson, inputs_of
from app.modeling.relations import relations
from app.modeling.results import ColumnProfile, EdaFacts, Finding


def explore(frame: pd.DataFrame, problem: Problem, recipe: RecipeJson, seed: int = 0) -> EdaFacts:
    """Columns, findings, leaks and suggestions, all from training rows."""
    seen = apply_recipe(frame, problem, recipe) if recipe else frame
    inputs = inputs_of(seen, problem)
    found = relations(frame, problem, seed)
    columns = [_profile(inputs[name], found.get(str(name))) for name in inputs.columns]
    return {
        "rows": len(frame),
        "columns": columns,
        "findings": [*_target_findings(frame, problem), *_column_findings(inputs)],
        "leaks": screen(frame, problem, found),
        "target": target_summary(frame, problem),
        "correlations": _correlations(inputs),
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


def _target_findings(frame: pd.DataFrame, problem: Problem) -> list[Finding]:
    summary = target_summary(frame, problem)
    if not problem.is_classification:
        return []
    counts = summary["classes"]
    rarest = min(counts, key=counts.get)
    share = counts[rarest] / max(sum(counts.values()), 1)
    if share >= 0.1 * 2 / len(counts):
        return []
    return [
        _finding(
            "imbalance",
            problem.target,
            f"Only {share:.1%} of the rows are {rarest!r}; accuracy alone would mislead.",
            "warning",
            {"class": rarest, "share": rounded(share)},
        )
    ]


def _finding(
    kind: str,
    column: str | None,
    text: str,
    severity: str,
    evidence: dict[str, Any],
    suggestion: RecipeJson = [],  # noqa: B006
) -> Finding:
    return {
        "kind": kind,
        "column": column,
        "text": text,
        "severity": severity,
        "evidence": evidence,
        "suggestion": suggestion,
    }


def _column_findings(inputs: pd.DataFrame) -> list[Finding]:
    findings: list[Finding] = []
    for name in inputs.columns:
        column = inputs[name]
        missing = float(column.isna().mean())
        if missing > 0.05:
            findings.append(
                _finding(
                    "missing",
                    str(name),
                    f"{missing:.0%} of {str(name)!r} is missing.",
                    "warning" if missing > 0.3 else "info",
                    {"share": rounded(missing)},
                    [{"op": "mark_missing", "columns": [str(name)]}],
                )
            )
        if holds(column) is Holds.NUMBER:
            findings += _outliers(str(name), quiet_float(column).dropna())
    return findings


def _outliers(name: str, values: pd.Series) -> list[Finding]:
    low, high = np.quantile(values, [0.25, 0.75])
    reach = 3 * (high - low)
    outside = int(((values < low - reach) | (values > high + reach)).sum())
    if not reach or not outside:
        return []
    text = f"{outside} value(s) of {name!r} lie far outside the middle half (more than 3 times its width away)."
    return [
        _finding(
            "outliers",
            name,
            text,
            "info",
            {"count": outside, "below": rounded(low - reach), "above": rounded(high + reach)},
            [{"op": "clip", "columns": [name]}],
        )
    ]


def _correlations(inputs: pd.DataFrame, most: int = 10) -> list[dict[str, Any]]:
    numbers = [name for name in inputs.columns if holds(inputs[name]) is Holds.NUMBER][:100]
    if len(numbers) < 2:
        return []
    matrix = inputs[numbers].astype("float64").corr(method="spearman").to_numpy()
    pairs = [
        {"a": str(numbers[i]), "b": str(numbers[j]), "r": rounded(matrix[i, j])}
        for i in range(len(numbers))
        for j in range(i + 1, len(numbers))
        if np.isfinite(matrix[i, j])
    ]
    return sorted(pairs, key=lambda pair: -abs(float(pair["r"] or 0.0)))[:most]
