"""In which unit an indicator speaks, measured and not listed: what becomes of it when prices or volumes double.

Levels would not carry over to prices that were never seen, so models get indicators without their unit.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from app.modeling.recipe.indicators import Bars, IndicatorSpec, compute_indicator, get_function

WINDOW_ROWS = 20
"""Rows over which volume is averaged, and over which what only adds up is looked at."""
_ROWS, _SHIFT = 400, 7.0


@dataclass(frozen=True)
class IndicatorUnit:
    """`price` and `volume`: the powers of them in the unit. `level`: it moves along with the price. `adds_up`:
    it depends on where the history began."""

    price: int
    volume: int
    level: bool
    is_cumulative: bool


@lru_cache(maxsize=512)
def measure_units(spec: IndicatorSpec) -> dict[str, IndicatorUnit]:
    """The unit of each column."""
    bars = _sample()
    plain = compute_indicator(spec, bars)
    dearer = compute_indicator(
        spec, {key: values * (1 if key == "volume" else 2) for key, values in bars.items()}
    )
    busier = compute_indicator(
        spec, {key: values * (2 if key == "volume" else 1) for key, values in bars.items()}
    )
    lifted = compute_indicator(
        spec, {key: values + (0 if key == "volume" else _SHIFT) for key, values in bars.items()}
    )
    adds_up = "Output is path-dependent" in get_function(spec.name).info["function_flags"]
    found = {}
    for column, values in plain.items():
        price, volume = _power(values, dearer[column]), _power(values, busier[column])
        level = price == 1 and bool(np.nanmedian(np.abs(lifted[column] - values - _SHIFT)) < 0.05 * _SHIFT)
        found[column] = IndicatorUnit(price, volume, level, adds_up and not level)
    return found


def remove_unit(values: np.ndarray, unit: IndicatorUnit, bars: Bars) -> np.ndarray:
    """The column as a pure number: relative to the close, to the usual volume, or both."""
    series = pd.Series(values)
    if unit.is_cumulative:
        series = series.diff(WINDOW_ROWS)
    if unit.price:
        series = series / pd.Series(bars["close"]) ** unit.price
    if unit.volume:
        usual = pd.Series(bars["volume"]).rolling(WINDOW_ROWS, min_periods=1).mean()
        series = series / usual.where(usual > 0) ** unit.volume
    if unit.level:
        series = series - 1
    pure: np.ndarray = series.replace([np.inf, -np.inf], np.nan).to_numpy()
    return pure


def _power(values: np.ndarray, doubled: np.ndarray) -> int:
    """Which power of two the values were multiplied by; 0 where they kept their size."""
    told = np.isfinite(values) & np.isfinite(doubled) & (np.abs(values) > 1e-9)
    if not told.any():
        return 0
    ratio = float(np.median(np.abs(doubled[told] / values[told])))
    return int(np.clip(np.rint(np.log2(ratio)), -2, 2)) if ratio > 0 else 0


@lru_cache(maxsize=1)
def _sample() -> Bars:
    """A random walk of bars, always the same."""
    chance = np.random.default_rng(0)
    close = 100 * np.exp(np.cumsum(chance.normal(0, 0.01, _ROWS)))
    opened = np.concatenate([[100.0], close[:-1]])
    high = np.maximum(opened, close) * (1 + np.abs(chance.normal(0, 0.003, _ROWS)))
    low = np.minimum(opened, close) * (1 - np.abs(chance.normal(0, 0.003, _ROWS)))
    return {"open": opened, "high": high, "low": low, "close": close, "volume": chance.lognormal(6, 0.5, _ROWS)}
