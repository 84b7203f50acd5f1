"""Findings on a training frame: facts that a user should know before decisions are made."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import skew

from app.modeling.analysis.cleaning import is_date_like, is_number_text
from app.modeling.analysis.leakage.row_numbers import looks_like_row_number
from app.modeling.analysis.market_features import BARS
from app.modeling.facts.computation_facts import Finding
from app.modeling.labels.labels import make_labels
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import RecipeJson, select_inputs
from app.modeling.table.column_kinds import ColumnKind, column_kinds
from app.modeling.table.column_stats import ColumnStats
from app.modeling.table.json_values import round_significant
from app.modeling.table.sampling import sample_rows

MAX_RANKED_ROWS = 5000
"""Rows that are ranked for correlations: their standard error is then below 0.015."""
PROBE_ROWS = 50
"""First rows that show at once that most columns are not constant."""
MAX_PAIR_COLUMNS = 60
"""Numeric columns compared with each other: 1,770 pairs."""


def find_all(frame: pd.DataFrame, problem: Problem, rows: int | None = None) -> list[Finding]:
    """Collect the findings on a frame, the serious ones first; `rows`: the number of rows it was sampled
    from."""
    inputs = select_inputs(frame, problem)
    inputs = inputs.drop(columns=problem.target, errors="ignore")
    findings = [finding for find in _FINDERS for finding in find(frame, inputs, problem)]
    if rows is not None and rows > len(frame):
        text = f"Columns were analysed on {len(frame):,} of {rows:,} training rows."
        findings.append(_finding("sampled", None, text, {"rows": len(frame), "of": rows}))
    order = {"serious": 0, "warning": 1, "info": 2}
    return sorted(findings, key=lambda finding: order[finding["severity"]])


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
    text = f"There are only {len(frame)} training rows: scores will be rough, and simple models work best."
    return [_finding("small", None, text, {"rows": len(frame)}, "warning")]


def _imbalance(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    if not problem.is_classification:
        return []
    shares = make_labels(frame, problem).value_counts(normalize=True)
    rarest, share = int(shares.index[-1]), float(shares.iloc[-1])
    # A fifth of an equal share: of ten classes, one with 2 % of the rows.
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
    skewness = float(skew(make_labels(frame, problem).dropna()))
    # Negated, so that the skewness of equal labels, which is nan, is no finding.
    if not abs(skewness) > 2:
        return []
    text = f"The target {problem.target!r} is skewed ({skewness:.1f}): a few rows have a large influence."
    return [
        _finding("skewed_target", problem.target, text, {"skewness": round_significant(skewness)}, "warning")
    ]


def _conflicting(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    if problem.horizon or not problem.is_classification or not len(inputs.columns):
        return []
    # Hashes instead of grouping by all columns, which takes far longer in a wide table.
    groups = pd.util.hash_pandas_object(inputs, index=False)
    conflicting = int((frame[problem.target].groupby(groups).transform("nunique") > 1).sum())
    if conflicting < max(5, 0.01 * len(frame)):
        return []
    text = (
        f"{conflicting} rows have the same inputs as another row but a different outcome: no model can predict"
        " all of them correctly."
    )
    return [_finding("conflicting", problem.target, text, {"rows": conflicting})]


def _missing(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    findings = []
    for name in inputs.columns:
        share = float(inputs[name].isna().mean())
        if 0.02 < share < 1:
            findings.append(
                _finding(
                    "missing",
                    str(name),
                    f"{share:.0%} of {str(name)!r} is missing.",
                    {"share": round_significant(share)},
                    "warning" if share > 0.3 else "info",
                    [{"op": "mark_missing", "columns": [str(name)]}],
                )
            )
    return findings


def _constant(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    return [
        _finding(
            "constant",
            str(name),
            f"{str(name)!r} has the same value in every row, so it carries no information.",
            {},
            "info",
            [{"op": "drop", "columns": [str(name)]}],
        )
        for name in inputs.columns
        if inputs[name].head(PROBE_ROWS).nunique(dropna=False) <= 1 and inputs[name].nunique(dropna=False) <= 1
    ]


def _identifiers(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    return [
        _finding(
            "identifier",
            str(name),
            f"{str(name)!r} only numbers the rows, so it carries no information but their order.",
            {},
            "warning",
            [{"op": "drop", "columns": [str(name)]}],
        )
        for name in inputs.columns
        if name not in (problem.time_column, problem.group_column) and looks_like_row_number(inputs[name])
    ]


def _as_text(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    findings = []
    for name, kind in column_kinds(inputs).items():
        if kind is ColumnKind.DATETIME or name == problem.time_column:
            continue
        if is_number_text(inputs[name]):
            operation = {"op": "to_number", "columns": [name]}
            findings.append(
                _finding(
                    "number_as_text", name, f"{name!r} holds numbers written as text.", {}, "info", [operation]
                )
            )
        elif is_date_like(inputs[name]):
            operation = {"op": "parse_dates", "columns": [name]}
            findings.append(
                _finding(
                    "date_as_text", name, f"{name!r} holds dates written as text.", {}, "info", [operation]
                )
            )
    return findings


def _outliers(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    findings, bars = [], _bar_columns(frame, problem)
    for name, kind in column_kinds(inputs).items():
        if kind is not ColumnKind.NUMBER or name in bars:
            continue
        measure = ColumnStats.from_column(inputs[name])
        low, high = measure.quantile(0.25), measure.quantile(0.75)
        # Tukey's far out values: 1.5 ranges would name one in 140 rows of a normal distribution.
        margin = 3 * (high - low)
        outside = measure.count_outside(low - margin, high + margin) if margin > 0 else 0
        # A few values, such as counts, have ranges of zero or one, beyond which anything lies.
        if outside >= max(3, 0.002 * len(measure.sorted_values)) and measure.distinct_count >= 10:
            findings.append(
                _finding(
                    "outliers",
                    name,
                    f"{outside} values of {name!r} lie more than 3 interquartile ranges outside its quartiles.",
                    {
                        "count": outside,
                        "below": round_significant(low - margin),
                        "above": round_significant(high + margin),
                    },
                    "info",
                    [{"op": "clip", "columns": [name]}],
                )
            )
    return findings


def find_correlations(inputs: pd.DataFrame, limit: int = 10) -> list[dict[str, Any]]:
    """Find the strongest rank correlations between numeric columns: `{"a", "b", "r"}`; on a sample of many
    rows."""
    numbers = [name for name, kind in column_kinds(inputs).items() if kind is ColumnKind.NUMBER][
        :MAX_PAIR_COLUMNS
    ]
    varying = [name for name in numbers if inputs[name].nunique() > 1]
    if len(varying) < 2:
        return []
    rows = inputs[varying].iloc[sample_rows(len(inputs), MAX_RANKED_ROWS, 0)]
    matrix = rows.rank().corr().to_numpy()
    pairs = [
        {"a": varying[i], "b": varying[j], "r": round_significant(matrix[i, j], 4)}
        for i in range(len(varying))
        for j in range(i + 1, len(varying))
        if np.isfinite(matrix[i, j])
    ]
    return sorted(pairs, key=lambda pair: -abs(float(pair["r"] or 0.0)))[:limit]


def _bar_columns(frame: pd.DataFrame, problem: Problem) -> set[str]:
    """The prices of bars in problems with a horizon: they move together without being copies."""
    names = {str(name).casefold(): str(name) for name in frame.columns}
    if not problem.horizon or not set(BARS) <= set(names):
        return set()
    return {names[price] for price in BARS}


def _near_duplicates(frame: pd.DataFrame, inputs: pd.DataFrame, problem: Problem) -> list[Finding]:
    bars = _bar_columns(frame, problem)
    return [
        _finding(
            "near_duplicate_columns",
            str(pair["b"]),
            f"{pair['a']!r} and {pair['b']!r} order the rows almost identically (rank correlation"
            f" {pair['r']}).",
            dict(pair),
        )
        for pair in find_correlations(inputs)
        if abs(float(pair["r"] or 0.0)) >= 0.995 and not {pair["a"], pair["b"]} <= bars
    ]


Finder = Callable[[pd.DataFrame, pd.DataFrame, Problem], list[Finding]]
_FINDERS: tuple[Finder, ...] = (
    _small,
    _imbalance,
    _skewed_target,
    _conflicting,
    _missing,
    _constant,
    _identifiers,
    _as_text,
    _outliers,
    _near_duplicates,
)
