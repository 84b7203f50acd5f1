"""Segments of the rows on which a model errs more than elsewhere, beyond chance."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.explanation.explanation_facts import Segment, SegmentFacts
from app.modeling.problem.problem import Problem
from app.modeling.scoring.independent_units import IndependentUnits, units_in_order
from app.modeling.scoring.scores import Predicted
from app.modeling.scoring.unit_means import bound_mean, bound_share, measure_excess
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


def find_worst_segments(
    rows: pd.DataFrame, predicted: Predicted, problem: Problem, units: IndependentUnits | None = None
) -> SegmentFacts:
    """Compute errors within every value or range of every raw column; report segments worse beyond chance.

    A classifier's error is the share of wrong classes, a regression's the mean absolute error.
    `units`: those of the rows, see `find_units`; rows of one err alike.
    """
    error = _row_errors(predicted, problem)
    segments = [part for part in _iterate_segments(rows, problem) if _is_large_enough(part, len(rows))]
    max_probability = FALSE_ALARM_RATE / max(len(segments), 1)
    unit_of_row = (units or units_in_order(len(rows), problem)).unit_of_row
    significant = [
        (part, facts)
        for part in segments
        if (facts := _test_segment(part, error, unit_of_row, problem, max_probability)) is not None
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


def _test_segment(
    part: _Segment, error: np.ndarray, units: np.ndarray, problem: Problem, max_probability: float
) -> Segment | None:
    """The segment's facts, or None if its error is not higher than elsewhere beyond chance."""
    _, probability = measure_excess(error, part.inside, units)
    if probability > max_probability:
        return None
    inside, elsewhere = error[part.inside], error[~part.inside]
    low, high = (bound_share if problem.is_classification else bound_mean)(inside, units[part.inside])
    return {
        "column": part.column,
        "text": part.text,
        "rows": len(inside),
        "error": round_significant(float(inside.mean())),
        "low": round_significant(low),
        "high": round_significant(high),
        "elsewhere": round_significant(float(elsewhere.mean())),
    }


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
