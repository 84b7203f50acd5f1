"""Effects of columns on predictions in units of the target, corrected and bounded by the held-out rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, hypot, isfinite, log10, sqrt
from typing import Any

import numpy as np
import pandas as pd

from app.json_types import JsonScalar
from app.modeling.explanation.column_groups import ColumnGroup
from app.modeling.explanation.explanation_facts import Effect
from app.modeling.explanation.importance import GroupImportance, ImportanceMeasurement
from app.modeling.explanation.residual_regression import (
    LocalTerms,
    ResidualRegression,
    line_terms,
    select_class,
    value_terms,
)
from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.table.json_values import to_json_scalar
from app.modeling.training.deadline import Deadline

MAX_ROWS = 400
"""Rows over which the model's own differences are averaged; their error is small beside that of the slopes."""
MIN_ROWS = 20
"""Rows below which a mean difference says little."""
MAX_VALUES, MAX_VALUE_EFFECTS = 6, 3
"""Frequent values that are compared with the most frequent one, and those that are told."""
MIN_VALUE_ROWS = 10
"""Rows with a value that is compared."""
BAND = 0.1
"""Share of the rows, around a quantile of a group's first column, that lend the values of the whole group."""
SMALL_RANGE = 10
"""Interquartile range of whole numbers up to which the step is one."""


@dataclass(frozen=True)
class _Differences:
    """Differences of the predictions between values of a group of columns.

    `pairs`: the two values of each; `by_row`: differences of the predictions (rows[, classes]) of each; `step`
    is told, and is a `share` of the way between the two values. `local`: terms of the residual regression.
    """

    pairs: Sequence[tuple[JsonScalar, JsonScalar]]
    by_row: Sequence[np.ndarray]
    local: LocalTerms | None = None
    step: float | None = None
    share: float = 1.0


NO_DIFFERENCES = _Differences((), ())


@dataclass(frozen=True)
class GroupEffects:
    """Effects of a group, the largest first. `chance`: the smallest probability of one so large by chance, as
    if no other had been looked at; `differences`: the number of those that were."""

    effects: Sequence[Effect] = ()
    chance: float = 1.0
    differences: int = 0


NO_EFFECTS = GroupEffects()


def measure_effects(
    measurement: ImportanceMeasurement,
    drivers: Sequence[GroupImportance],
    seed: int = 0,
    deadline: Deadline | None = None,
) -> dict[str, GroupEffects]:
    """Measure the effects of groups by their labels; texts have none, nor what there is no time for."""
    deadline = deadline or Deadline(None)
    rng = np.random.default_rng(seed)
    positions = measurement.subject.sample(len(measurement.rows), MAX_ROWS, seed)
    sample = measurement.rows.iloc[positions].reset_index(drop=True)
    if len(sample) < MIN_ROWS:
        return {}
    differences: dict[str, _Differences] = {}
    for driver in drivers:
        differences[driver.group.label] = _find_differences(measurement, driver.group, sample, rng)
        if deadline.is_over:
            break
    local = {label: part.local for label, part in differences.items() if part.local}
    # All measured columns are in the regression, so that no driver is credited with what another one does.
    controls = [*drivers, *(entry for entry in measurement.ranked if entry not in drivers)]
    regressions: dict[int | None, ResidualRegression] = {}
    effects: dict[str, GroupEffects] = {}
    for driver in drivers:
        part = differences.get(driver.group.label, NO_DIFFERENCES)
        of_class = _choose_class(measurement, part)
        if part.pairs and of_class not in regressions:
            regressions[of_class] = ResidualRegression(measurement, controls, local, of_class)
        measured = (
            _make_effect(measurement, driver.group, part, place, of_class, regressions[of_class])
            for place in range(len(part.pairs))
        )
        ranked = sorted(
            (entry for entry in measured if entry is not None), key=lambda entry: -abs(entry[0]["value"])
        )
        effects[driver.group.label] = GroupEffects(
            [effect for effect, _ in ranked[:MAX_VALUE_EFFECTS]],
            min((chance for _, chance in ranked), default=1.0),
            len(ranked),
        )
    return effects


def _choose_class(measurement: ImportanceMeasurement, differences: _Differences) -> int | None:
    """Choose the positive class, of several the one with the largest difference; None for numbers."""
    problem = measurement.subject.problem
    if not problem.is_classification:
        return None
    if problem.is_binary or not differences.by_row:
        return problem.positive_index
    sizes = np.max([np.abs(by_row.mean(axis=0)) for by_row in differences.by_row], axis=0)
    return int(np.argmax(sizes))


def _find_differences(
    measurement: ImportanceMeasurement, group: ColumnGroup, sample: pd.DataFrame, rng: np.random.Generator
) -> _Differences:
    """Predict the sampled rows with the group at two values, for each pair of values to compare."""
    rows, name = measurement.rows, group.columns[0]
    if group.reason == "codes":
        return _compare_values(measurement, group, _decode(rows[list(group.columns)]), sample, rng)
    kind = column_kind(rows[name])
    if kind in (ColumnKind.TEXT, ColumnKind.EMPTY):
        return NO_DIFFERENCES
    if kind in (ColumnKind.CATEGORY, ColumnKind.BOOLEAN) or rows[name].nunique() <= 2:
        return _compare_values(measurement, group, rows[name], sample, rng)
    ends = _choose_ends(rows[name])
    if ends is None:
        return NO_DIFFERENCES
    if len(group.columns) == 1:
        frames = [_set_value(sample, name, value) for value in ends]
    else:
        frames = [_lend(sample, rows, group, _near(rows[name], value), rng) for value in ends]
    before, after = measurement.subject.predict_frames(frames)
    pair = to_json_scalar(ends[0]), to_json_scalar(ends[1])
    low, high = (float(_to_number(pd.Series([value])).iloc[0]) for value in ends)
    local = line_terms(_to_number(rows[name]), low, high)
    if kind is ColumnKind.DATETIME:
        return _Differences([pair], [after - before], local)
    step = choose_step(low, high, is_whole=_is_whole(rows[name]))
    return _Differences([pair], [after - before], local, step, step / (high - low))


def _to_number(column: pd.Series) -> pd.Series:
    if column_kind(column) is ColumnKind.DATETIME:
        return column.astype("int64").where(column.notna()).astype("float64")
    return column.astype("float64")


def _decode(codes: pd.DataFrame) -> pd.Series:
    """Return the name of the code that is one in each row, or missing."""
    ones = codes.astype("float64").fillna(0.0)
    return ones.idxmax(axis=1).where(ones.max(axis=1) > 0)


def _compare_values(
    measurement: ImportanceMeasurement,
    group: ColumnGroup,
    values: pd.Series,
    sample: pd.DataFrame,
    rng: np.random.Generator,
) -> _Differences:
    """Compare frequent values with the most frequent one."""
    counts = values.value_counts()
    # One more than told: the most frequent one is what the others are compared with.
    frequent = [value for value in counts.index[: MAX_VALUES + 1] if counts[value] >= MIN_VALUE_ROWS]
    if len(frequent) < 2:
        return NO_DIFFERENCES
    frames = [
        _set_value(sample, group.columns[0], value)
        if len(group.columns) == 1
        else _lend(sample, measurement.rows, group, np.flatnonzero(values == value), rng)
        for value in frequent
    ]
    first, *others = measurement.subject.predict_frames(frames)
    problem = measurement.subject.problem
    usual, *labels = [problem.written_value(group.columns[0], to_json_scalar(value)) for value in frequent]
    return _Differences(
        [(usual, label) for label in labels],
        [output - first for output in others],
        value_terms(values, frequent[0], frequent[1:]),
    )


def _choose_ends(column: pd.Series) -> tuple[Any, Any] | None:
    """Return the quartiles; of a column that mostly has one value, this value and the median of the others."""
    present = column.dropna()
    # Quartiles: between them lie rows enough, and one outlier does not set the range.
    low, high = (present.quantile(share, interpolation="nearest") for share in (0.25, 0.75))
    if low == high:
        others = present[present != low]
        if len(others) < MIN_VALUE_ROWS:
            return None
        other = others.quantile(0.5, interpolation="nearest")
        low, high = sorted((low, other))
    return low, high


def choose_step(low: float, high: float, is_whole: bool) -> float:
    """Choose a round step: 1, 2 or 5 times a power of ten, within the range; 1 of a short scale of whole
    numbers."""
    size = high - low
    if is_whole and size <= SMALL_RANGE:
        return 1.0
    power = 10.0 ** floor(log10(size))
    # The tolerance admits a range such as 0.3 - 0.1, which is a little less than 0.2.
    return float(max(factor * power for factor in (1.0, 2.0, 5.0) if factor * power <= size * (1 + 1e-9)))


def _is_whole(column: pd.Series) -> bool:
    present = column.dropna().astype("float64").to_numpy()
    return bool(np.all(present == np.round(present)))


def _set_value(sample: pd.DataFrame, name: str, value: Any) -> pd.DataFrame:
    return sample.assign(**{name: pd.Series([value] * len(sample), sample.index, dtype=sample[name].dtype)})


def _near(column: pd.Series, value: Any) -> np.ndarray:
    """Positions of the rows nearest to a value."""
    distance = (_to_number(column) - _to_number(pd.Series([value])).iloc[0]).abs()
    count = max(int(BAND * len(column)), MIN_VALUE_ROWS)
    return np.argsort(distance.fillna(np.inf).to_numpy(), kind="stable")[:count]


def _lend(
    sample: pd.DataFrame, rows: pd.DataFrame, group: ColumnGroup, lenders: np.ndarray, rng: np.random.Generator
) -> pd.DataFrame:
    """Give each row the group's values of one of the lenders, so that values stay together as they occur."""
    lender = rng.choice(lenders, len(sample))
    return sample.assign(**{name: rows[name].take(lender).set_axis(sample.index) for name in group.columns})


def _make_effect(
    measurement: ImportanceMeasurement,
    group: ColumnGroup,
    differences: _Differences,
    place: int,
    of_class: int | None,
    regression: ResidualRegression,
) -> tuple[Effect, float] | None:
    """Return an effect, and the probability of one as large by chance; None where the rows do not tell."""
    by_row = select_class(differences.by_row[place], of_class)
    own, own_error = float(by_row.mean()), float(by_row.std(ddof=1)) / sqrt(len(by_row))
    correction = regression.correct(group.label, own, place)
    if correction is None:
        return None
    value = differences.share * (own + correction.value)
    error = differences.share * hypot(correction.error, own_error)
    half_width = regression.quantile * error
    if not (isfinite(value) and isfinite(half_width)) or half_width == 0:
        return None
    chance = regression.chance(value, error)
    # Two digits of the uncertainty are told: further ones of the value would be noise.
    digits = 1 - floor(log10(half_width))
    value, low, high = (round(bound, digits) for bound in (value, value - half_width, value + half_width))
    classes = measurement.subject.problem.classes or ()
    # Of an effect below zero the bounds change places.
    sizes = sorted((abs(low), abs(high)))
    before, after = differences.pairs[place]
    effect: Effect = {
        "column": group.columns[0],
        "with": list(group.columns[1:]) if group.reason != "codes" else [],
        "before": before,
        "after": after,
        "step": differences.step,
        "of_class": None if of_class is None else to_json_scalar(classes[of_class]),
        "value": value,
        "low": low,
        "high": high,
        "is_clear": low * high > 0,
        "size": abs(value),
        "size_low": sizes[0],
        "size_high": sizes[1],
    }
    return effect, chance
