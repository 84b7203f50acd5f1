"""Market regimes, defined by what is known at each bar: calm or wild, rising or falling."""

import numpy as np
import pandas as pd

LEVELS = ("calm", "usual", "wild")


def label_volatility_regimes(prices: pd.DataFrame, before: pd.DataFrame, window: int) -> np.ndarray:
    """Label each bar `calm`, `usual` or `wild`, by the deviation of its last `window` returns.

    The limits are the terciles of that deviation in the training rows `before`.
    """
    combined = pd.concat([before, prices])
    returns = _log(combined).diff().mean(axis=1)
    spread = returns.rolling(window, min_periods=max(2, window // 2)).std()
    train_spread = spread.iloc[: len(before)].dropna()
    if train_spread.empty:
        return np.full(len(prices), "usual", dtype=object)
    edges = train_spread.quantile([1 / 3, 2 / 3]).to_numpy()
    # A bar without enough history counts as usual.
    levels = np.searchsorted(edges, spread.tail(len(prices)).fillna(edges.mean()))
    return np.array([LEVELS[level] for level in levels], dtype=object)


def label_trend_regimes(prices: pd.DataFrame, before: pd.DataFrame, window: int) -> np.ndarray:
    """Label each bar `rising` or `falling`, by the mean move of the coins over the last `window` bars."""
    combined = pd.concat([before.tail(window), prices])
    returns = (_log(combined) - _log(combined.shift(window))).mean(axis=1)
    return np.where(returns.tail(len(prices)).fillna(0.0) >= 0, "rising", "falling").astype(object)


def _log(prices: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(np.log(prices.to_numpy()), prices.index, prices.columns)
