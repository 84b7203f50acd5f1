"""What is worth knowing about a training frame before anything is decided."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import skew

from app.modeling.analysis.cleaning import reads_as_date, reads_as_number
from app.modeling.analysis.leakage.columns import looks_like_row_number
from app.modeling.analysis.market_features import BARS
from app.modeling.labels.labels import make_labels
from app.modeling.problem.problem import Problem
from app.modeling.problem.results import Finding
from app.modeling.recipe.recipe import RecipeJson, select_inputs
from app.modeling.table.column_stats import ColumnStats
from app.modeling.table.columns import ColumnKind, column_kinds
from app.modeling.table.json_values import round_significant
from app.modeling.table.sampling import sample_rows

MAX_RANKED = 5000
GLANCE = 50
MAX_PAIRS = 60
"""Numeric columns compared with each other."""


def findings_of(frame: pd.DataFrame, problem: Problem, rows: int | None = None) -> list[Finding]:
    """Findings on a frame, the serious ones first; `rows`: how many it was drawn from."""
    inputs = select_inputs(frame, problem)
    inputs = inputs.drop(columns=problem.target, errors="ignore")
    found = [finding for find in _FINDERS for finding in find(frame, inputs, problem)]
    if rows is not None and rows > len(frame):
        text = f"Columns were looked at on {len(frame):,} of {rows:,} training rows."
        found.append(_finding("sampled", None, text, {"rows": len(frame), "of": rows}))
    order = {"serious": 0, "warning": 1, "info": 2}
    return sorted(found, key=lambda finding: order[finding["severity"]])


def _finding(
    kind: str,
    column: str | None,
    text: str,
    evidence: dict[str, Any],
    severity: str = "info",
    suggestion: RecipeJson | None = None,
) -> Finding:
    return {
        "kind": kind,
        "column": column,
        "text": text,
        "severity": severity,
        "evidence": evidence,
        "suggestion": suggestion or [],
    }


def _small(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    if len(frame) >= 200:
        return []
    text = f"There are only {len(frame)} training rows: scores will be rough, and simple models do best."
    return [_finding("small", None, text, {"rows": len(frame)}, "warning")]


def _imbalance(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    if not problem.is_classification:
        return []
    shares = make_labels(frame, problem).value_counts(normalize=True)
    rarest, share = int(shares.index[-1]), float(shares.iloc[-1])
    if share * len(shares) >= 0.2:
        return []
    name = (problem.classes or ())[rarest]
    text = f"Only {share:.1%} of the rows are {name!r}, so accuracy alone would mislead."
    return [
        _finding(
            "imbalance",
            problem.target,
            text,
            {"class": str(name), "share": round_significant(share)},
            "warning",
        )
    ]


def _skewed_target(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    if problem.is_classification:
        return []
    lopsided = float(skew(make_labels(frame, problem).dropna()))
    if not abs(lopsided) > 2:
        return []
    text = f"The target {problem.target!r} is very lopsided (skewness {lopsided:.1f}): a few rows weigh much."
    return [
        _finding("skewed_target", problem.target, text, {"skewness": round_significant(lopsided)}, "warning")
    ]


def _conflicting(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    if problem.horizon or not problem.is_classification or not len(inputs.columns):
        return []
    groups = pd.util.hash_pandas_object(inputs, index=False)
    conflicting = int((frame[problem.target].groupby(groups).transform("nunique") > 1).sum())
    if conflicting < max(5, 0.01 * len(frame)):
        return []
    text = (
        f"{conflicting} rows have the same inputs as another row and another outcome: nobody can get all right."
    )
    return [_finding("conflicting", problem.target, text, {"rows": conflicting})]


def _missing(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    found = []
    for name in inputs.columns:
        share = float(inputs[name].isna().mean())
        if 0.02 < share < 1:
            found.append(
                _finding(
                    "missing",
                    str(name),
                    f"{share:.0%} of {str(name)!r} is missing.",
                    {"share": round_significant(share)},
                    "warning" if share > 0.3 else "info",
                    [{"op": "mark_missing", "columns": [str(name)]}],
                )
            )
    return found


def _silent(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    return [
        _finding(
            "constant",
            str(name),
            f"{str(name)!r} always has the same value and says nothing.",
            {},
            "info",
            [{"op": "drop", "columns": [str(name)]}],
        )
        for name in inputs.columns
        if inputs[name].head(GLANCE).nunique(dropna=False) <= 1 and inputs[name].nunique(dropna=False) <= 1
    ]


def _identifiers(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    return [
        _finding(
            "identifier",
            str(name),
            f"{str(name)!r} only numbers the rows: there is nothing to learn from it but their order.",
            {},
            "warning",
            [{"op": "drop", "columns": [str(name)]}],
        )
        for name in inputs.columns
        if name not in (problem.time_column, problem.group_column) and looks_like_row_number(inputs[name])
    ]


def _as_text(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    found = []
    for name, kind in column_kinds(inputs).items():
        if kind is ColumnKind.DATETIME or name == problem.time_column:
            continue
        if reads_as_number(inputs[name]):
            operation = {"op": "to_number", "columns": [name]}
            found.append(
                _finding(
                    "number_as_text", name, f"{name!r} holds numbers written as text.", {}, "info", [operation]
                )
            )
        elif reads_as_date(inputs[name]):
            operation = {"op": "parse_dates", "columns": [name]}
            found.append(
                _finding(
                    "date_as_text", name, f"{name!r} holds dates written as text.", {}, "info", [operation]
                )
            )
    return found


def _outliers(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    found, bars = [], _of_bars(frame, problem)
    for name, kind in column_kinds(inputs).items():
        if kind is not ColumnKind.NUMBER or name in bars:
            continue
        measure = ColumnStats.from_column(inputs[name])
        low, high = measure.quantile(0.25), measure.quantile(0.75)
        reach = 3 * (high - low)
        outside = measure.count_outside(low - reach, high + reach) if reach > 0 else 0
        if outside >= max(3, 0.002 * len(measure.sorted_values)) and measure.distinct_count >= 10:
            found.append(
                _finding(
                    "outliers",
                    name,
                    f"{outside} values of {name!r} lie far outside its middle half (over 3 times its width).",
                    {
                        "count": outside,
                        "below": round_significant(low - reach),
                        "above": round_significant(high + reach),
                    },
                    "info",
                    [{"op": "clip", "columns": [name]}],
                )
            )
    return found


def correlations(inputs: pd.DataFrame, most: int = 10) -> list[dict[str, Any]]:
    """The strongest rank correlations between numeric columns: `{"a", "b", "r"}`; of a draw of many rows."""
    numbers = [name for name, kind in column_kinds(inputs).items() if kind is ColumnKind.NUMBER][:MAX_PAIRS]
    varying = [name for name in numbers if inputs[name].nunique() > 1]
    if len(varying) < 2:
        return []
    rows = inputs[varying].iloc[sample_rows(len(inputs), MAX_RANKED, 0)]
    matrix = rows.rank().corr().to_numpy()
    pairs = [
        {"a": varying[i], "b": varying[j], "r": round_significant(matrix[i, j], 4)}
        for i in range(len(varying))
        for j in range(i + 1, len(varying))
        if np.isfinite(matrix[i, j])
    ]
    return sorted(pairs, key=lambda pair: -abs(float(pair["r"] or 0.0)))[:most]


def _of_bars(frame: pd.DataFrame, problem: Problem) -> set[str]:
    """Prices of one bar, where bars are looked ahead from: they move together, at each coin's own level."""
    named = {str(name).casefold(): str(name) for name in frame.columns}
    if not problem.horizon or not set(BARS) <= set(named):
        return set()
    return {named[part] for part in BARS}


def _copies(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    bars = _of_bars(frame, problem)
    return [
        _finding(
            "near_duplicate_columns",
            str(pair["b"]),
            f"{pair['a']!r} and {pair['b']!r} order the rows alike (rank correlation {pair['r']}).",
            dict(pair),
        )
        for pair in correlations(inputs)
        if abs(float(pair["r"] or 0.0)) >= 0.995 and not {pair["a"], pair["b"]} <= bars
    ]


Finder = Callable[[pd.DataFrame, pd.DataFrame, Problem], list[Finding]]
_FINDERS: tuple[Finder, ...] = (
    _small,
    _imbalance,
    _skewed_target,
    _conflicting,
    _missing,
    _silent,
    _identifiers,
    _as_text,
    _outliers,
    _copies,
)
