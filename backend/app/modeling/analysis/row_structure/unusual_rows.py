"""Rows with a value that their other values do not lead to expect.

Each column is predicted from all others by a line and a forest of its errors, and each row by trees that have
not seen it. How far a value lies from its prediction is set against rows like it, those whose predictions are
near: a price may be off by more where prices are high. A number is unusual that is three times as far off, on
its side, as nine of ten rows like it are, and a level that less than one in a hundred rows like it has. Of
normal errors one in a million lies so far out. No chance is claimed, since where tails are heavy it hangs on
the shape that is assumed of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Ridge

from app.errors import InvalidInput
from app.modeling.analysis.row_structure.compared_columns import (
    ComparedColumn,
    choose_columns,
    make_dimensions,
    require_columns,
)
from app.modeling.table.sampling import sample_rows

MIN_ROWS = 30
"""Rows below which no error tells what errors are usual."""
MAX_LEARNED_ROWS = 5_000
"""Rows that a forest learns from; all rows are judged."""
MAX_COLUMNS = 60
"""Columns that are judged: each is a forest of its own."""
USUAL_SHARE = 0.9
"""Share of the rows like a row, on one side of what is expected, that are called usual."""
UNUSUAL_REACH = 3.0
"""How many times as far off as the usual rows a number is unusual."""
UNUSUAL_LEVEL_SHARE = 0.01
"""Share of the rows like a row with its level, below which the level is unusual."""
MIN_LISTED = 10
"""Rows that are listed where fewer, or none, are unusual: the ones that fit the others least."""
_TREES, _MIN_LEAF = 100, 3
"""Trees of a forest, and rows of each leaf: a row is judged by the third of the trees that have not seen it."""
_ROBUST_REACH = 6.0
"""Median absolute errors beyond which a row does not count for the line."""
_LIKE_ROWS = 0.1
"""Share of the rows whose predictions are nearest, by which the usual size of an error is estimated."""
_MIN_LIKE_ROWS = 50
"""Rows below which nine tenths of them are no estimate."""
_MIN_REACH_SHARE = 0.25
"""Share of the usual reach of all rows below which no local one counts: a few rows are alike by chance."""

Side = Literal["low", "high"]


@dataclass(frozen=True)
class UnusualValue:
    """A cell that does not fit its row: `expected` from the other cells, for numbers usually from `low` to
    `high`.

    `distance`: 1 is as far off as a value can be without being unusual.
    """

    column: str
    value: object
    expected: object
    low: float | None
    high: float | None
    distance: float

    @property
    def is_unusual(self) -> bool:
        return self.distance > 1


@dataclass(frozen=True)
class UnusualRow:
    """A row by its position, with its value that fits least and others that are unusual, the farthest off
    first."""

    position: int
    values: Sequence[UnusualValue]

    @property
    def is_unusual(self) -> bool:
        return self.values[0].is_unusual


@dataclass(frozen=True)
class UnusualRows:
    """The rows that fit least first; `count`: those that are unusual, all of which are listed.

    `columns`: those that were judged; `left_out`: those for which there was no time.
    """

    rows: Sequence[UnusualRow]
    count: int
    columns: Sequence[str]
    left_out: Sequence[str]


@dataclass(frozen=True)
class _JudgedColumn:
    """Distances (rows,) of a column's values, and for numbers what was expected within which bounds."""

    column: ComparedColumn
    distances: np.ndarray
    expected: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None


def find_unusual_rows(
    frame: pd.DataFrame,
    column: str | None = None,
    side: Side | None = None,
    seed: int = 1,
    is_late: Callable[[], bool] = lambda: False,
) -> UnusualRows:
    """Find the rows of a table that do not fit the others.

    `column`: judge the values of this one only, from the others; `side`: only those that are too low or too
    high, for numbers. `is_late` ends the judging of further columns. Raises InvalidInput `too_few_rows`,
    `too_few_columns` or `not_comparable`.
    """
    if len(frame) < MIN_ROWS:
        raise InvalidInput(
            "too_few_rows", f"What is unusual shows among {MIN_ROWS} rows at least; the table has {len(frame)}."
        )
    compared = choose_columns(frame)
    require_columns(compared, 2, "Unusual rows")
    targets = [_find_target(compared, column)] if column else compared[:MAX_COLUMNS]
    judged: list[_JudgedColumn] = []
    for target in targets:
        if judged and is_late():
            break
        judged.append(
            _judge(
                target, [judged_column for judged_column in compared if judged_column is not target], side, seed
            )
        )
    names = [judged_column.column.name for judged_column in judged]
    return _collect(
        judged,
        names,
        [judged_column.name for judged_column in compared if judged_column.name not in names and not column],
    )


def _find_target(compared: Sequence[ComparedColumn], name: str) -> ComparedColumn:
    for column in compared:
        if column.name == name:
            return column
    raise InvalidInput(
        "not_comparable",
        f"The values of `{name}` cannot be compared: they are names of rows, free text, or all the same.",
        column=name,
    )


def _judge(
    target: ComparedColumn, others: Sequence[ComparedColumn], side: Side | None, seed: int
) -> _JudgedColumn:
    present = np.flatnonzero(~np.isnan(target.values))
    inputs = np.column_stack([_fill(column) for column in others])[present]
    learned = sample_rows(len(present), MAX_LEARNED_ROWS, seed)
    if target.is_category:
        return _judge_category(target, present, inputs, learned, seed)
    line = _fit_line(np.column_stack([make_dimensions(column) for column in others])[present], target, learned)
    return _judge_number(target, present, inputs, line, learned, side, seed)


def _fill(column: ComparedColumn) -> np.ndarray:
    """Return the values (rows,) without gaps: a missing one is below all others, which a tree tells apart."""
    lowest = np.nanmin(column.values)
    return np.where(np.isnan(column.values), lowest - 1.0, column.values)


def _fit_line(dimensions: np.ndarray, target: ComparedColumn, learned: np.ndarray) -> np.ndarray:
    """Return the linear prediction (rows,) of a number from the others, of which unusual rows move little.

    A forest predicts no value beyond those of its leaves, so that all rows at the ends would be unusual.
    """
    values = target.scaled()
    values = values[~np.isnan(values)]
    line = Ridge(1.0).fit(dimensions[learned], values[learned])
    errors = values[learned] - line.predict(dimensions[learned])
    reach = _ROBUST_REACH * float(np.median(np.abs(errors)))
    near_line = np.abs(errors) <= reach
    if near_line.sum() > dimensions.shape[1]:
        line.fit(dimensions[learned][near_line], values[learned][near_line])
    predicted: np.ndarray = line.predict(dimensions)
    return predicted


def _judge_number(
    target: ComparedColumn,
    present: np.ndarray,
    inputs: np.ndarray,
    line: np.ndarray,
    learned: np.ndarray,
    side: Side | None,
    seed: int,
) -> _JudgedColumn:
    values = target.scaled()[present]
    forest = RandomForestRegressor(
        _TREES, min_samples_leaf=_MIN_LEAF, max_features=0.5, oob_score=True, random_state=seed
    )
    forest.fit(inputs[learned], values[learned] - line[learned])
    curve = forest.predict(inputs)
    curve[learned] = forest.oob_prediction_
    expected = line + curve
    errors = values - expected
    # Either side by its own errors: those of counts and amounts reach farther up than down.
    low, high = (_find_reach(expected, sizes) for sizes in (-errors, errors))
    distances = np.abs(errors) / (UNUSUAL_REACH * np.where(errors < 0, low, high))
    if side:
        distances = np.where((errors < 0) == (side == "low"), distances, 0.0)
    back = np.exp if target.is_logarithmic else np.asarray
    rows = len(target.values)
    return _JudgedColumn(
        target,
        _spread(distances, present, rows, 0.0),
        _spread(back(expected), present, rows, np.nan),
        _spread(back(expected - low), present, rows, np.nan),
        _spread(back(expected + high), present, rows, np.nan),
    )


def _find_reach(expected: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return how far (rows,) usual rows lie from what is expected on one side, among those of near
    predictions.

    `sizes`: errors, with a sign by which those on the side are positive. Infinite where hardly any row is
    there.
    """
    on_side = sizes > 0
    if on_side.sum() < MIN_ROWS // 3:
        return np.full(len(sizes), np.inf)
    order = np.flatnonzero(on_side)[np.argsort(expected[on_side], kind="stable")]
    window = min(len(order), max(_MIN_LIKE_ROWS, int(_LIKE_ROWS * len(order))))
    rolling = pd.Series(sizes[order]).rolling(window, center=True, min_periods=window // 2)
    local = rolling.quantile(USUAL_SHARE).ffill().bfill().to_numpy()
    # Where most rows are met exactly, any other error would be infinitely far off.
    bounded = np.maximum(local, _MIN_REACH_SHARE * float(np.quantile(sizes[order], USUAL_SHARE)))
    reach: np.ndarray = np.interp(expected, expected[order], bounded)
    return reach


def _judge_category(
    target: ComparedColumn,
    present: np.ndarray,
    inputs: np.ndarray,
    learned: np.ndarray,
    seed: int,
) -> _JudgedColumn:
    levels = target.values[present].astype(int)
    forest = RandomForestClassifier(
        _TREES, min_samples_leaf=_MIN_LEAF, max_features=0.5, oob_score=True, random_state=seed
    )
    forest.fit(inputs[learned], levels[learned])
    shares = np.zeros((len(levels), len(target.levels)))
    shares[:, forest.classes_] = forest.predict_proba(inputs)
    shares[np.ix_(learned, forest.classes_)] = np.nan_to_num(forest.oob_decision_function_)
    # No share of few rows is 0: a level counts as often as in one further row like all.
    frequency = np.bincount(levels, minlength=len(target.levels)) / len(levels)
    weight = 1.0 / (1.0 + len(learned) / _MIN_LEAF)
    shares = (1 - weight) * shares + weight * frequency
    own = shares[np.arange(len(levels)), levels]
    rows = len(target.values)
    return _JudgedColumn(
        target,
        _spread(np.log(own) / np.log(UNUSUAL_LEVEL_SHARE), present, rows, 0.0),
        _spread(shares.argmax(axis=1).astype(float), present, rows, np.nan),
    )


def _spread(values: np.ndarray, present: np.ndarray, rows: int, absent: float) -> np.ndarray:
    """Return the values (rows,) at their positions among all rows."""
    spread = np.full(rows, absent)
    spread[present] = values
    return spread


def _collect(judged: Sequence[_JudgedColumn], names: Sequence[str], left_out: Sequence[str]) -> UnusualRows:
    farthest = np.column_stack([judged_column.distances for judged_column in judged]).max(axis=1)
    count = int((farthest > 1).sum())
    positions = np.argsort(-farthest, kind="stable")[: max(count, MIN_LISTED)]
    rows = [UnusualRow(int(position), _describe_values(judged, int(position))) for position in positions]
    return UnusualRows(rows, count, names, left_out)


def _describe_values(judged: Sequence[_JudgedColumn], position: int) -> list[UnusualValue]:
    """Describe the value of a row that is farthest off, and up to two others that are unusual."""
    values = [_describe_value(judged_column, position) for judged_column in judged]
    first, *others = sorted(values, key=lambda value: -value.distance)
    return [first, *[value for value in others if value.is_unusual][:2]]


def _describe_value(judged: _JudgedColumn, position: int) -> UnusualValue:
    column, distance = judged.column, float(judged.distances[position])
    value, expected = column.values[position], judged.expected[position]
    if column.is_category:
        return UnusualValue(
            column.name, _name_level(column, value), _name_level(column, expected), None, None, distance
        )
    low = None if judged.low is None else float(judged.low[position])
    high = None if judged.high is None else float(judged.high[position])
    return UnusualValue(column.name, float(value), float(expected), low, high, distance)


def _name_level(column: ComparedColumn, place: float) -> str | None:
    return None if np.isnan(place) else column.levels[int(place)]
