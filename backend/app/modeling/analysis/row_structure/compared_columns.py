"""The columns by which rows are compared with each other, as numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from app.errors import InvalidInput
from app.modeling.analysis.leakage.row_numbers import ROW_NUMBER_NAME
from app.modeling.analysis.redundancy import find_redundant
from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.table.numeric import to_float

MIN_PRESENT_SHARE = 0.5
"""Share of rows with a value below which a column compares too few of them."""
MAX_LEVELS = 20
"""Levels of a category that are told apart; the rarer ones are one level."""
OTHER = "other values"
"""The level of all rarer values of a category."""
_SECONDS_PER_DAY = 86_400.0
_RATIO = 5.0
"""Ratio of high to low numbers from which they are compared by their logarithm: as ratios, as prices are."""

_LEVEL_WEIGHT = 0.5
"""Standard deviation of a category beside 1 of a number: its levels lie apart by nature, so that each of them
would be a group of its own (Huang, 1998, https://doi.org/10.1023/A:1009769707641, weighs them by a half)."""
_MAX_DEVIATIONS = 3.0
"""Deviations from the mean at which a number is cut, so that single rows make no group of their own."""


@dataclass(frozen=True)
class ComparedColumn:
    """A column of a comparison.

    `values` (rows,): numbers as they are, days since 1970 of dates, and the place in `levels` of categories;
    NaN where the value is missing. `levels`: of a category, the most frequent first. `is_logarithmic`: its
    positive numbers are compared by their ratios.
    """

    name: str
    kind: ColumnKind
    values: np.ndarray
    levels: tuple[str, ...] = ()
    is_logarithmic: bool = False

    @property
    def is_category(self) -> bool:
        return self.kind is ColumnKind.CATEGORY

    def scaled(self) -> np.ndarray:
        """Return the values (rows,) in the scale of comparisons: logarithms where ratios count."""
        return np.log(self.values) if self.is_logarithmic else self.values


def choose_columns(frame: pd.DataFrame) -> list[ComparedColumn]:
    """Choose the columns that rows are compared by: no identifier, free text, constant or copy."""
    redundant = {
        redundancy.column for redundancy in find_redundant(frame) if redundancy.kind != "near_constant"
    }
    compared = (_make_column(str(name), frame[name]) for name in frame.columns if str(name) not in redundant)
    return [column for column in compared if column is not None]


def make_dimensions(column: ComparedColumn) -> np.ndarray:
    """Return a column as dimensions (rows, 1 or levels) around 0, a number with a variance of about 1."""
    if not column.is_category:
        values = column.scaled()
        centred = (values - np.nanmean(values)) / (np.nanstd(values) or 1.0)
        # A missing value is no reason to be near or far: it lies in the middle.
        cut: np.ndarray = np.clip(np.nan_to_num(centred), -_MAX_DEVIATIONS, _MAX_DEVIATIONS)
        return cut[:, None]
    indicators = (column.values[:, None] == np.arange(len(column.levels))).astype(float)
    spread = np.sqrt(indicators.var(axis=0).sum()) or 1.0
    centred_levels: np.ndarray = _LEVEL_WEIGHT * (indicators - indicators.mean(axis=0)) / spread
    return centred_levels


def require_columns(columns: Sequence[ComparedColumn], min_columns: int, what: str) -> None:
    """Raise InvalidInput `too_few_columns` for fewer than `min_columns` columns."""
    if len(columns) >= min_columns:
        return
    names = ", ".join(f"`{column.name}`" for column in columns) or "none"
    raise InvalidInput(
        "too_few_columns",
        f"{what} need at least {min_columns} columns of numbers, dates or repeated texts; the table has"
        f" {names}. Names of rows, free text and columns of one value compare nothing.",
    )


def _make_column(name: str, column: pd.Series) -> ComparedColumn | None:
    kind = column_kind(column)
    if kind in (ColumnKind.EMPTY, ColumnKind.TEXT) or column.notna().mean() < MIN_PRESENT_SHARE:
        return None
    if column.nunique() < 2 or _numbers_rows(column, kind):
        return None
    if kind in (ColumnKind.CATEGORY, ColumnKind.BOOLEAN):
        return _make_category(name, column)
    values = _to_days(column) if kind is ColumnKind.DATETIME else to_float(column).to_numpy()
    values = np.where(np.isfinite(values), values, np.nan)
    return ComparedColumn(name, kind, values, is_logarithmic=_is_logarithmic(values, kind))


def _numbers_rows(column: pd.Series, kind: ColumnKind) -> bool:
    """Test for numbers that name something, in tables too small for the test of redundancy or with repeats."""
    is_named = ROW_NUMBER_NAME.search(str(column.name)) is not None
    return is_named and kind is ColumnKind.NUMBER and column.nunique() >= MIN_PRESENT_SHARE * len(column)


def _make_category(name: str, column: pd.Series) -> ComparedColumn:
    texts = column.astype("object").where(column.notna(), None).map(lambda v: None if v is None else str(v))
    levels = [str(level) for level in texts.value_counts().index]
    if len(levels) > MAX_LEVELS:
        levels = [*levels[: MAX_LEVELS - 1], OTHER]
        texts = texts.map(lambda text: text if text is None or text in levels else OTHER)
    places = {level: place for place, level in enumerate(levels)}
    values = texts.map(places).astype("float64").to_numpy()
    return ComparedColumn(name, ColumnKind.CATEGORY, values, tuple(levels))


def _to_days(column: pd.Series) -> np.ndarray:
    moments = pd.to_datetime(column, utc=True)
    seconds = (moments - pd.Timestamp(0, tz="UTC")).dt.total_seconds()
    days: np.ndarray = (seconds / _SECONDS_PER_DAY).to_numpy(dtype="float64")
    return days


def _is_logarithmic(values: np.ndarray, kind: ColumnKind) -> bool:
    present = values[~np.isnan(values)]
    if kind is not ColumnKind.NUMBER or present.min() <= 0:
        return False
    low, high = np.quantile(present, [0.01, 0.99])
    return bool(high > _RATIO * low) and float(stats.skew(present)) > 0
