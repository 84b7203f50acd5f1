"""Where a model is worst: parts of the rows on which it errs more than elsewhere by more than chance."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm, t

from app.modeling.explanation.facts import Segment, SegmentFacts
from app.modeling.problem.problem import Problem
from app.modeling.scoring.scores import Predicted
from app.modeling.table.columns import ColumnKind, column_kind
from app.modeling.table.json_values import class_label, round_significant

MIN_ROWS = 30
MAX_SEGMENTS = 8
MAX_VALUES = 12
RANGES = 4
MISTAKEN = 0.05
"""How often a model that errs evenly may have a segment named."""

SAME_ROWS = 0.8
"""A segment that shares this much of its rows with a worse one tells nothing new."""


@dataclass(frozen=True)
class _Part:
    """`inside`: which rows. `text` reads after the column's name: `is yes`, `is 3 to 7`, `is missing`."""

    column: str
    text: str
    inside: np.ndarray


def errors_by_segment(rows: pd.DataFrame, predicted: Predicted, problem: Problem) -> SegmentFacts:
    """Errors within every value or range of every raw column, those named that are worse beyond chance.

    A classifier's error is the share of rows whose class it gets wrong, a regression's the mean absolute error.
    """
    error = _error_of(predicted, problem)
    parts = [part for part in _parts(rows) if _is_worth(part, len(rows))]
    reach = float(norm.isf(MISTAKEN / max(len(parts), 1)))
    found = [(part, facts) for part in parts if (facts := _judged(part, error, problem, reach)) is not None]
    found.sort(key=lambda each: -_excess(each[1]))
    return {
        "measure": "wrong" if problem.is_classification else "absolute_error",
        "overall": round_significant(float(error.mean())),
        "rows": len(rows),
        "tested": len(parts),
        "worst": [facts for _, facts in _distinct(found)],
    }


def _error_of(predicted: Predicted, problem: Problem) -> np.ndarray:
    if problem.is_classification:
        wrong: np.ndarray = (predicted.choice != predicted.truth).astype("float64")
        return wrong
    error: np.ndarray = np.abs(predicted.output - predicted.truth)
    return error


def _parts(rows: pd.DataFrame) -> Iterator[_Part]:
    for name in rows.columns:
        column: pd.Series = rows[name]
        kind = column_kind(column)
        if column.isna().any():
            yield _Part(str(name), "is missing", column.isna().to_numpy())
        if kind is ColumnKind.NUMBER and column.nunique() > MAX_VALUES:
            yield from _ranges(str(name), column.astype("float64"))
        elif kind is ColumnKind.DATETIME and column.nunique() > MAX_VALUES:
            yield from _periods(str(name), column)
        elif kind not in (ColumnKind.EMPTY, ColumnKind.TEXT):
            for value in column.value_counts().index[:MAX_VALUES]:
                yield _Part(
                    str(name), f"is {class_label(value)}", (column == value).fillna(False).to_numpy(dtype=bool)
                )


def _ranges(name: str, column: pd.Series) -> Iterator[_Part]:
    edges = np.unique(np.nanquantile(column, np.linspace(0, 1, RANGES + 1)))
    values = column.to_numpy()
    for place, (low, high) in enumerate(pairwise(edges.tolist())):
        inside = (values >= low if place == 0 else values > low) & (values <= high)
        yield _Part(name, f"is {_short(low)} to {_short(high)}", inside)


def _periods(name: str, column: pd.Series) -> Iterator[_Part]:
    edges = column.quantile(np.linspace(0, 1, RANGES + 1), interpolation="nearest").drop_duplicates().tolist()
    for place, (low, high) in enumerate(pairwise(edges)):
        inside = ((column >= low) if place == 0 else (column > low)) & (column <= high)
        yield _Part(name, f"is {low:%Y-%m-%d} to {high:%Y-%m-%d}", inside.to_numpy(dtype=bool))


def _is_worth(part: _Part, rows: int) -> bool:
    count = int(part.inside.sum())
    return count >= MIN_ROWS and rows - count >= MIN_ROWS


def _judged(part: _Part, error: np.ndarray, problem: Problem, reach: float) -> Segment | None:
    """The segment's facts, None where its error is no higher than elsewhere beyond chance."""
    here, elsewhere = error[part.inside], error[~part.inside]
    noise = np.hypot(here.std(ddof=1) / np.sqrt(len(here)), elsewhere.std(ddof=1) / np.sqrt(len(elsewhere)))
    if here.mean() - elsewhere.mean() <= reach * noise or not noise:
        return None
    low, high = _share_interval(here) if problem.is_classification else _mean_interval(here)
    return {
        "column": part.column,
        "text": part.text,
        "rows": len(here),
        "error": round_significant(float(here.mean())),
        "low": round_significant(low),
        "high": round_significant(high),
        "elsewhere": round_significant(float(elsewhere.mean())),
    }


def _share_interval(wrong: np.ndarray) -> tuple[float, float]:
    """95 % by Wilson's score."""
    z, rows, share = 1.96, len(wrong), float(wrong.mean())
    middle = (share + z**2 / (2 * rows)) / (1 + z**2 / rows)
    half = z * np.sqrt(share * (1 - share) / rows + z**2 / (4 * rows**2)) / (1 + z**2 / rows)
    return float(middle - half), float(middle + half)


def _mean_interval(error: np.ndarray) -> tuple[float, float]:
    """95 % by Student's t."""
    half = float(t.isf(0.025, len(error) - 1)) * float(error.std(ddof=1)) / np.sqrt(len(error))
    return float(error.mean()) - half, float(error.mean()) + half


def _excess(facts: Segment) -> float:
    """How many errors more than elsewhere the segment has: large parts and large differences count."""
    return ((facts["error"] or 0.0) - (facts["elsewhere"] or 0.0)) * float(np.sqrt(facts["rows"]))


def _distinct(found: list[tuple[_Part, Segment]]) -> list[tuple[_Part, Segment]]:
    kept: list[tuple[_Part, Segment]] = []
    for part, facts in found:
        if all(_overlap(part, other) < SAME_ROWS for other, _ in kept):
            kept.append((part, facts))
    return kept[:MAX_SEGMENTS]


def _overlap(one: _Part, other: _Part) -> float:
    return float((one.inside & other.inside).sum() / (one.inside | other.inside).sum())


def _short(value: Any) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
