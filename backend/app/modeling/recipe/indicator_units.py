"""Units of technical indicators, measured by doubling prices and volumes of sample bars.

Levels do not generalise to prices outside the training range, so models get indicators without their unit.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from app.modeling.recipe.indicators import Bars, IndicatorSpec, compute_indicator, get_function

WINDOW_ROWS = 20
"""Rows over which volume is averaged, and cumulative indicators are differenced."""
_ROWS, _SHIFT = 400, 7.0
"""Sample bars, enough for the longest default lookback; and the price shift that finds levels."""


@dataclass(frozen=True)
class IndicatorUnit:
    """Unit of one indicator column. `price`, `volume`: their powers in the unit. `level`: it shifts with the
    price.

    `is_cumulative`: it depends on where the history begins.
    """

    price: int
    volume: int
    level: bool
    is_cumulative: bool


@lru_cache(maxsize=512)
def measure_units(spec: IndicatorSpec) -> dict[str, IndicatorUnit]:
    """Measure the unit of each column of an indicator."""
    # Measured, not listed: TA-Lib has over a hundred functions, and their parameters can change the unit.
    bars = _sample_bars()
    original = compute_indicator(spec, bars)
    double_price = compute_indicator(
        spec, {key: values * (1 if key == "volume" else 2) for key, values in bars.items()}
    )
    double_volume = compute_indicator(
        spec, {key: values * (2 if key == "volume" else 1) for key, values in bars.items()}
    )
    shifted_price = compute_indicator(
        spec, {key: values + (0 if key == "volume" else _SHIFT) for key, values in bars.items()}
    )
    is_cumulative = "Output is path-dependent" in get_function(spec.name).info["function_flags"]
    units = {}
    for column, values in original.items():
        price, volume = _power(values, double_price[column]), _power(values, double_volume[column])
        # A width, such as an average true range, doubles with the price too, but does not move with it.
        level = price == 1 and bool(
            np.nanmedian(np.abs(shifted_price[column] - values - _SHIFT)) < 0.05 * _SHIFT
        )
        # A level such as SAR is path-dependent too, but stays near the price: its distance is what counts.
        units[column] = IndicatorUnit(price, volume, level, is_cumulative and not level)
    return units


def remove_unit(values: np.ndarray, unit: IndicatorUnit, bars: Bars) -> np.ndarray:
    """Convert a column to a pure number: relative to the close, to the mean volume, or both."""
    series = pd.Series(values)
    # The sum since an arbitrary first bar means nothing; its change over a window does.
    if unit.is_cumulative:
        series = series.diff(WINDOW_ROWS)
    if unit.price:
        series = series / pd.Series(bars["close"]) ** unit.price
    if unit.volume:
        mean_volume = pd.Series(bars["volume"]).rolling(WINDOW_ROWS, min_periods=1).mean()
        series = series / mean_volume.where(mean_volume > 0) ** unit.volume
    # Distance from the close, so that 0 is a price at the level.
    if unit.level:
        series = series - 1
    # A close of 0 gives infinities, which scikit-learn refuses; missing values it can fill.
    unitless: np.ndarray = series.replace([np.inf, -np.inf], np.nan).to_numpy()
    return unitless


def _power(values: np.ndarray, doubled: np.ndarray) -> int:
    """The power of two by which doubling an input multiplied the values; 0 for no change."""
    is_usable = np.isfinite(values) & np.isfinite(doubled) & (np.abs(values) > 1e-9)
    if not is_usable.any():
        return 0
    # The median: oscillators cross zero, where ratios explode.
    ratio = float(np.median(np.abs(doubled[is_usable] / values[is_usable])))
    # Smoothing and warm-up leave ratios slightly off a power of two.
    return int(np.clip(np.rint(np.log2(ratio)), -2, 2)) if ratio > 0 else 0


@lru_cache(maxsize=1)
def _sample_bars() -> Bars:
    """Bars of a fixed random walk."""
    # The same bars in every process: a stored model must get the same units when it predicts.
    rng = np.random.default_rng(0)
    close = 100 * np.exp(np.cumsum(rng.normal(0, 0.01, _ROWS)))
    open_ = np.concatenate([[100.0], close[:-1]])
    high = np.maximum(open_, close) * (1 + np.abs(rng.normal(0, 0.003, _ROWS)))
    low = np.minimum(open_, close) * (1 - np.abs(rng.normal(0, 0.003, _ROWS)))
    return {"open": open_, "high": high, "low": low, "close": close, "volume": rng.lognormal(6, 0.5, _ROWS)}
