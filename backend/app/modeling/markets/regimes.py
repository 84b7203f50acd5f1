"""Kinds of market, told by what is known at the time: calm or wild, rising or falling."""

import numpy as np
import pandas as pd

LEVELS = ("calm", "usual", "wild")


def volatility_regimes(prices: pd.DataFrame, before: pd.DataFrame, window: int) -> np.ndarray:
    """`calm`, `usual` or `wild` for each bar: the standard deviation of its last `window` returns against the
    thirds that it had in the training rows `before`."""
    known = pd.concat([before, prices])
    moved = _log(known).diff().mean(axis=1)
    spread = moved.rolling(window, min_periods=max(2, window // 2)).std()
    taught = spread.iloc[: len(before)].dropna()
    if taught.empty:
        return np.full(len(prices), "usual", dtype=object)
    edges = taught.quantile([1 / 3, 2 / 3]).to_numpy()
    places = np.searchsorted(edges, spread.tail(len(prices)).fillna(edges.mean()))
    return np.array([LEVELS[place] for place in places], dtype=object)


def trend_regimes(prices: pd.DataFrame, before: pd.DataFrame, window: int) -> np.ndarray:
    """`rising` or `falling` for each bar: the mean move of the coins over the last `window` bars."""
    known = pd.concat([before.tail(window), prices])
    moved = (_log(known) - _log(known.shift(window))).mean(axis=1)
    return np.where(moved.tail(len(prices)).fillna(0.0) >= 0, "rising", "falling").astype(object)


def _log(prices: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(np.log(prices.to_numpy()), prices.index, prices.columns)
