"""Twenty indicators as one would write them in pandas: the reference of `benchmarks.prices.indicators`."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import sliding_window_view


def of_coin(bars: pd.DataFrame) -> pd.DataFrame:
    """The columns of one coin's bars, oldest first, by the names that TA-Lib's get here."""
    close, high, low, volume = (bars[name] for name in ("close", "high", "low", "volume"))
    true_range = _true_range(high, low, close)
    average_range = _wilder(true_range, 14)
    mean, deviation = close.rolling(20).mean(), close.rolling(20).std(ddof=0)
    macd = _ema(close, 12) - _ema(close, 26)
    signal = _ema(macd, 9)
    lowest, highest = low.rolling(14).min(), high.rolling(14).max()
    slow_k = (
        (100 * (close - low.rolling(5).min()) / (high.rolling(5).max() - low.rolling(5).min()))
        .rolling(3)
        .mean()
    )
    typical = (high + low + close) / 3
    return pd.DataFrame(
        {
            "SMA_20": mean,
            "SMA_50": close.rolling(50).mean(),
            "EMA_12": _ema(close, 12),
            "EMA_26": _ema(close, 26),
            "WMA_20": _windows(close, 20, lambda rows: rows @ np.arange(1, 21) / 210),
            "MACD": macd,
            "MACD_SIGNAL": signal,
            "MACD_HIST": macd - signal,
            "BBANDS_20_UPPERBAND": mean + 2 * deviation,
            "BBANDS_20_MIDDLEBAND": mean,
            "BBANDS_20_LOWERBAND": mean - 2 * deviation,
            "RSI_14": _rsi(close, 14),
            "STOCH_SLOWK": slow_k,
            "STOCH_SLOWD": slow_k.rolling(3).mean(),
            "WILLR_14": -100 * (highest - close) / (highest - lowest),
            "CCI_20": (typical - typical.rolling(20).mean()) / (0.015 * _windows(typical, 20, _mean_deviation)),
            "MFI_14": _money_flow(typical, volume, 14),
            "ROC_10": 100 * (close / close.shift(10) - 1),
            "MOM_10": close.diff(10),
            "ADX_14": _directional(high, low, true_range, 14),
            "ATR_14": average_range,
            "NATR_14": 100 * average_range / close,
            "TRANGE": true_range,
            "STDDEV_20": deviation,
            "OBV": (np.sign(close.diff()).fillna(1) * volume).cumsum(),
        }
    )


def _ema(values: pd.Series, period: int) -> pd.Series:
    return values.ewm(span=period, adjust=False).mean()


def _wilder(values: pd.Series, period: int) -> pd.Series:
    return values.ewm(alpha=1 / period, adjust=False).mean()


def _true_range(high: pd.Series, low: pd.Series, close: pd.Series) -> pd.Series:
    before = close.shift()
    return pd.concat([high - low, (high - before).abs(), (low - before).abs()], axis=1).max(axis=1)


def _rsi(close: pd.Series, period: int) -> pd.Series:
    change = close.diff()
    rise, fall = _wilder(change.clip(lower=0), period), _wilder(-change.clip(upper=0), period)
    return 100 * rise / (rise + fall)


def _money_flow(typical: pd.Series, volume: pd.Series, period: int) -> pd.Series:
    flow, change = typical * volume, typical.diff()
    inward = flow.where(change > 0, 0.0).rolling(period).sum()
    outward = flow.where(change < 0, 0.0).rolling(period).sum()
    return 100 * inward / (inward + outward)


def _directional(high: pd.Series, low: pd.Series, true_range: pd.Series, period: int) -> pd.Series:
    up, down = high.diff(), -low.diff()
    rising = _wilder(up.where((up > down) & (up > 0), 0.0), period)
    falling = _wilder(down.where((down > up) & (down > 0), 0.0), period)
    spread = _wilder(true_range, period)
    plus, minus = rising / spread, falling / spread
    return _wilder(100 * (plus - minus).abs() / (plus + minus), period)


def _mean_deviation(rows: np.ndarray) -> np.ndarray:
    deviation: np.ndarray = np.abs(rows - rows.mean(axis=1, keepdims=True)).mean(axis=1)
    return deviation


def _windows(values: pd.Series, period: int, measure: Callable[[np.ndarray], np.ndarray]) -> pd.Series:
    rows = sliding_window_view(values.to_numpy(), period)
    return pd.Series(measure(rows), index=values.index[period - 1 :]).reindex(values.index)
