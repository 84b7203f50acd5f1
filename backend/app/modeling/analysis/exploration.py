"""Exploratory facts of a training frame: columns, findings, leaks and suggestions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.analysis.assumptions.late_columns import (
    NEARLY_PERFECT,
    is_left_out_by_default,
    measure_columns,
)
from app.modeling.analysis.cleaning import suggest_cleaning
from app.modeling.analysis.findings import find_all, find_correlations
from app.modeling.analysis.leakage.leaking_columns import find_leaks
from app.modeling.analysis.recipe_effects import apply_recipe
from app.modeling.analysis.redundancy import find_identifiers
from app.modeling.analysis.suggested_features import suggest_features
from app.modeling.analysis.univariate import score_columns
from app.modeling.facts.assumptions import AssumptionJson, AssumptionSide
from app.modeling.facts.computation_facts import ColumnProfile, EdaFacts
from app.modeling.facts.leaks import Leak
from app.modeling.labels.labels import make_labels
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import RecipeJson, select_inputs
from app.modeling.recipe.transforms.columns import to_category_text
from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.table.column_stats import ColumnStats
from app.modeling.table.json_values import round_significant, to_json_value
from app.modeling.table.sampling import sample_rows
from app.modeling.training.deadline import Deadline

MAX_ROWS = 20_000
"""Rows that are analysed: statistics of a sample of this size are exact enough to decide by."""
MIN_SLOW_ROWS = 4_000
"""Rows that are analysed on the slowest machine: fewer would name leaks and findings by chance."""
SCORING_SHARE = 0.6
"""Share of the time for the scores of single columns; the rest measures what suspected ones bring."""
MAX_NAMED_COLUMNS = 5
"""Columns that a sentence names."""
MAX_CELLS = 3_000_000
"""Rows times columns that are analysed, so that a wide table takes seconds too."""


def explore(
    frame: pd.DataFrame,
    problem: Problem,
    recipe: RecipeJson,
    seed: int = 0,
    deadline: Deadline | None = None,
    threads: int = 1,
) -> EdaFacts:
    """Analyse a training frame: columns, findings, leaks and suggestions.

    Of many rows a sample is analysed (`looked_at` counts it); missing values and classes are counted in all
    rows. `deadline`: of scoring columns and measuring what suspected ones bring; a slow machine analyses fewer
    rows. Without it, counts of rows bound the time.
    """
    deadline = deadline or Deadline(None)
    sample = frame.iloc[_sample_positions(frame, problem, seed, deadline.slowness)]
    transformed = apply_recipe(sample, problem, recipe) if recipe else sample
    inputs = select_inputs(transformed, problem)
    scoring = deadline.within(SCORING_SHARE)
    scores = score_columns(sample, problem, seed, scoring)
    # Of all rows: it is cheap, and a sample would miss rare gaps.
    missing = select_inputs(frame, problem).isna().mean()
    profiles = [
        _profile(inputs[name], scores.get(str(name)), missing.get(name) if not recipe else None)
        for name in inputs.columns
    ]
    leaks = find_leaks(sample, problem, scores)
    special = (problem.target, problem.time_column, *problem.group_columns, *(leak["column"] for leak in leaks))
    identifiers = find_identifiers(select_inputs(sample, problem), [name for name in special if name])
    assumptions = measure_columns(sample, problem, scores, leaks, seed, deadline, threads, identifiers)
    return {
        "rows": len(frame),
        "looked_at": len(sample),
        "columns": profiles,
        "findings": find_all(transformed, problem, len(frame)),
        "leaks": leaks,
        "assumptions": assumptions,
        "target": summarize_target(frame, problem),
        "correlations": find_correlations(inputs),
        # What an assumption keeps as an input is not dropped as a mere number of the rows.
        "suggested_cleaning": suggest_cleaning(sample, problem, _kept_columns(leaks, assumptions)),
        "suggested_features": suggest_features(sample, problem),
        "notes": [
            *describe_unscored(profiles, scores, problem, scoring),
            *describe_unmeasured(scores, problem, leaks, assumptions),
        ],
        "figures": [],
    }


def _kept_columns(leaks: Sequence[Leak], assumptions: Sequence[AssumptionJson]) -> list[str]:
    """Name identifiers that predict the target without being proven to give it away."""
    identifiers = [leak["column"] for leak in leaks if leak["kind"] == "row_order" and not leak["certain"]]
    inputs = [entry["columns"] for entry in assumptions if entry["chosen"] == AssumptionSide.HOLDS]
    return list(dict.fromkeys([*identifiers, *(name for names in inputs for name in names)]))


def describe_unmeasured(
    scores: Mapping[str, float],
    problem: Problem,
    leaks: Sequence[Leak],
    assumptions: Sequence[AssumptionJson],
) -> list[str]:
    """Name the suspected columns, and inputs that alone tell nearly all, whose effect no time was left for.

    The last inputs are never left out (`agents.data_analyst.exploration_rules`), and that is not said of them.
    """
    defaults = {leak["column"] for leak in leaks if is_left_out_by_default(leak)}
    are_last = {*scores} <= defaults
    measured = {name for entry in assumptions for name in entry["columns"]}
    unmeasured = [leak for leak in leaks if leak["column"] not in measured]
    notes = [
        f"{leak['text']} It is left out, and what the score is with it was not measured."
        if is_left_out_by_default(leak) and not are_last
        else f"{leak['text']} What the score is without it was not measured."
        for leak in unmeasured
    ]
    doubted = {*measured, *(leak["column"] for leak in leaks), *problem.exclude}
    # A column that another one hides is no leak by its score, so that only its own score tells of it.
    carrying = [
        name
        for name in scores
        if scores[name] >= NEARLY_PERFECT[problem.is_classification] and name not in doubted
    ]
    if problem.horizon:
        return notes
    alone = f"alone tells nearly all of {problem.target!r}. What the score is without it was not measured."
    return [*notes, *(f"{name!r} {alone}" for name in carrying[:MAX_NAMED_COLUMNS])]


def describe_unscored(
    profiles: Sequence[ColumnProfile], scores: Mapping[str, float], problem: Problem, deadline: Deadline
) -> list[str]:
    """Name the columns that no time was left to judge, as at most one sentence."""
    structural = (problem.time_column, problem.group_column)
    missing = [
        entry["name"]
        for entry in profiles
        if entry["name"] not in scores
        and entry["name"] not in structural
        and entry["type"] != ColumnKind.EMPTY.value
    ]
    if not missing or not deadline.is_over:
        return []
    names = ", ".join(map(repr, missing[:MAX_NAMED_COLUMNS]))
    more = f" and {len(missing) - MAX_NAMED_COLUMNS} more" if len(missing) > MAX_NAMED_COLUMNS else ""
    return [f"There was no time to test whether {names}{more} give the target away."]


def _sample_positions(frame: pd.DataFrame, problem: Problem, seed: int, slowness: float = 1.0) -> np.ndarray:
    """Positions of randomly drawn rows, in the order of the file; of the latest rows if features look back."""
    max_rows = int(np.clip(MAX_CELLS // max(frame.shape[1], 1), 1_000, MAX_ROWS))
    max_rows = min(max_rows, max(int(MAX_ROWS / slowness), MIN_SLOW_ROWS))
    # Lags need rows that follow each other, and the latest are the most like those to come.
    if problem.horizon:
        return np.arange(max(0, len(frame) - max_rows), len(frame))
    return sample_rows(len(frame), max_rows, seed)


def summarize_target(frame: pd.DataFrame, problem: Problem) -> dict[str, Any]:
    """Count the classes, or summarize the numbers (mean, deviation and quantiles), over labelled rows."""
    labels = make_labels(frame, problem).dropna()
    if problem.is_classification:
        names = problem.classes or ()
        return {"classes": {str(name): int((labels == index).sum()) for index, name in enumerate(names)}}
    return summarize_numbers(labels)


def summarize_numbers(values: pd.Series) -> dict[str, Any]:
    return _summary_json(ColumnStats.from_column(values))


def _summary_json(measure: ColumnStats) -> dict[str, Any]:
    values = measure.sorted_values
    return {
        "mean": round_significant(values.mean()) if len(values) else None,
        "std": round_significant(values.std(ddof=1)) if len(values) > 1 else None,
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
        summary, distinct = _summary_json(measure), measure.distinct_count
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
