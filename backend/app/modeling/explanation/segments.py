"""Segments of the rows on which a model errs more than elsewhere, beyond chance."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm, t

from app.modeling.explanation.explanation_facts import Segment, SegmentFacts
from app.modeling.problem.problem import Problem
from app.modeling.scoring.scores import Predicted
from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.table.json_values import class_label, round_significant

MIN_ROWS = 30
"""Rows inside and outside of a segment: the normal approximation needs them."""
MAX_SEGMENTS = 8
"""Segments in the report: the worst; a longer list is not read."""
MAX_VALUES = 12
"""Categories of a column that are tested, the most frequent ones."""
RANGES = 4
"""Quantile ranges of a number or date."""
FALSE_ALARM_RATE = 0.05
"""Probability that a model with even errors has any segment reported (Bonferroni)."""

SAME_ROWS = 0.8
"""A segment that shares this much of its rows with a worse one is left out."""


@dataclass(frozen=True)
class _Segment:
    """Rows of a segment (`inside`, a mask). `text` follows the column's name: `is yes`, `is 3 to 7`, `is
    missing`."""

    column: str
    text: str
    inside: np.ndarray


def find_worst_segments(rows: pd.DataFrame, predicted: Predicted, problem: Problem) -> SegmentFacts:
    """Compute errors within every value or range of every raw column; report segments worse beyond chance.

    A classifier's error is the share of wrong classes, a regression's the mean absolute error.
    """
    error = _row_errors(predicted, problem)
    segments = [part for part in _iterate_segments(rows, problem) if _is_large_enough(part, len(rows))]
    # One-sided: only segments with larger errors are looked for.
    z_limit = float(norm.isf(FALSE_ALARM_RATE / max(len(segments), 1)))
    significant = [
        (part, facts)
        for part in segments
        if (facts := _test_segment(part, error, problem, z_limit)) is not None
    ]
    significant.sort(key=lambda pair: -_excess(pair[1]))
    return {
        "measure": "wrong" if problem.is_classification else "absolute_error",
        "overall": round_significant(float(error.mean())),
        "rows": len(rows),
        "tested": len(segments),
        "worst": [facts for _, facts in _remove_overlaps(significant)],
    }


def _row_errors(predicted: Predicted, problem: Problem) -> np.ndarray:
    if problem.is_classification:
        wrong: np.ndarray = (predicted.choice != predicted.truth).astype("float64")
        return wrong
    error: np.ndarray = np.abs(predicted.output - predicted.truth)
    return error


def _iterate_segments(rows: pd.DataFrame, problem: Problem) -> Iterator[_Segment]:
    for name in rows.columns:
        column: pd.Series = rows[name]
        kind = column_kind(column)
        if column.isna().any():
            yield _Segment(str(name), "is missing", column.isna().to_numpy())
        if kind is ColumnKind.NUMBER and column.nunique() > MAX_VALUES:
            yield from _ranges(str(name), column.astype("float64"))
        elif kind is ColumnKind.DATETIME and column.nunique() > MAX_VALUES:
            yield from _periods(str(name), column)
        elif kind not in (ColumnKind.EMPTY, ColumnKind.TEXT):
            for value in column.value_counts().index[:MAX_VALUES]:
                text = f"is {problem.written_value(str(name), class_label(value))}"
                yield _Segment(str(name), text, (column == value).fillna(False).to_numpy(dtype=bool))


def _ranges(name: str, column: pd.Series) -> Iterator[_Segment]:
    # A frequent value may be several quantiles: the ranges between them are empty.
    edges = np.unique(np.nanquantile(column, np.linspace(0, 1, RANGES + 1)))
    values = column.to_numpy()
    for place, (low, high) in enumerate(pairwise(edges.tolist())):
        inside = (values >= low if place == 0 else values > low) & (values <= high)
        yield _Segment(name, f"is {_format_number(low)} to {_format_number(high)}", inside)


def _periods(name: str, column: pd.Series) -> Iterator[_Segment]:
    edges = column.quantile(np.linspace(0, 1, RANGES + 1), interpolation="nearest").drop_duplicates().tolist()
    for place, (low, high) in enumerate(pairwise(edges)):
        inside = ((column >= low) if place == 0 else (column > low)) & (column <= high)
        yield _Segment(name, f"is {low:%Y-%m-%d} to {high:%Y-%m-%d}", inside.to_numpy(dtype=bool))


def _is_large_enough(part: _Segment, rows: int) -> bool:
    count = int(part.inside.sum())
    return count >= MIN_ROWS and rows - count >= MIN_ROWS


def _test_segment(part: _Segment, error: np.ndarray, problem: Problem, z_limit: float) -> Segment | None:
    """The segment's facts, or None if its error is not higher than elsewhere beyond chance."""
    inside, elsewhere = error[part.inside], error[~part.inside]
    # Welch's: errors inside and elsewhere may vary differently.
    noise = np.hypot(inside.std(ddof=1) / np.sqrt(len(inside)), elsewhere.std(ddof=1) / np.sqrt(len(elsewhere)))
    # Errors that are all equal on both sides have no noise to be compared with.
    if inside.mean() - elsewhere.mean() <= z_limit * noise or not noise:
        return None
    low, high = _share_interval(inside) if problem.is_classification else _mean_interval(inside)
    return {
        "column": part.column,
        "text": part.text,
        "rows": len(inside),
        "error": round_significant(float(inside.mean())),
        "low": round_significant(low),
        "high": round_significant(high),
        "elsewhere": round_significant(float(elsewhere.mean())),
    }


def _share_interval(wrong: np.ndarray) -> tuple[float, float]:
    """95% interval by Wilson's score."""
    z, rows, share = 1.96, len(wrong), float(wrong.mean())
    middle = (share + z**2 / (2 * rows)) / (1 + z**2 / rows)
    half = z * np.sqrt(share * (1 - share) / rows + z**2 / (4 * rows**2)) / (1 + z**2 / rows)
    return float(middle - half), float(middle + half)


def _mean_interval(error: np.ndarray) -> tuple[float, float]:
    """95% interval by Student's t."""
    half = float(t.isf(0.025, len(error) - 1)) * float(error.std(ddof=1)) / np.sqrt(len(error))
    return float(error.mean()) - half, float(error.mean()) + half


def _excess(facts: Segment) -> float:
    """Excess error over elsewhere times the root of the rows: large segments and large differences count."""
    return ((facts["error"] or 0.0) - (facts["elsewhere"] or 0.0)) * float(np.sqrt(facts["rows"]))


def _remove_overlaps(segments: list[tuple[_Segment, Segment]]) -> list[tuple[_Segment, Segment]]:
    distinct: list[tuple[_Segment, Segment]] = []
    for part, facts in segments:
        if all(_overlap(part, other) < SAME_ROWS for other, _ in distinct):
            distinct.append((part, facts))
    return distinct[:MAX_SEGMENTS]


def _overlap(first: _Segment, second: _Segment) -> float:
    return float((first.inside & second.inside).sum() / (first.inside | second.inside).sum())


def _format_number(value: Any) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
