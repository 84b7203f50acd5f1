"""Volatility estimators from bars; each value uses its own and earlier bars only."""

import numpy as np
import pandas as pd

Series = pd.Series


def close_to_close(close: Series, window: int) -> Series:
    """Standard deviation of the last `window` log returns, per bar."""
    return log_positive(close).diff().rolling(window).std()


def realised_volatility(close: Series, window: int) -> Series:
    """Root of the summed squared log returns of the last `window` bars, for the whole window."""
    return sqrt_nonnegative((log_positive(close).diff() ** 2).rolling(window).sum())


def ewma_volatility(close: Series, window: int, decay: float = 0.94) -> Series:
    """Expected realised volatility of the next `window` bars by exponentially weighted squared returns
    (RiskMetrics 1996)."""
    return sqrt_nonnegative((log_positive(close).diff() ** 2).ewm(alpha=1 - decay).mean() * window)


def parkinson(high: Series, low: Series, window: int) -> Series:
    """Volatility from the range of bars (Parkinson 1980): the root of the mean of ln(high / low) squared over 4
    ln 2."""
    spread = log_positive(high) - log_positive(low)
    return sqrt_nonnegative((spread**2).rolling(window).mean() / (4 * np.log(2)))


def garman_klass(open_: Series, high: Series, low: Series, close: Series, window: int) -> Series:
    """Volatility from the range and body of bars (Garman & Klass 1980): half of ln(high / low) squared less (2
    ln 2 - 1) of ln(close / open) squared."""
    spread, body = log_positive(high) - log_positive(low), log_positive(close) - log_positive(open_)
    return sqrt_nonnegative((spread**2 / 2 - (2 * np.log(2) - 1) * body**2).rolling(window).mean())


def log_positive(values: Series) -> Series:
    """Logarithm of positive numbers; missing elsewhere."""
    positive = values.where(values > 0).astype("float64")
    return pd.Series(np.log(positive.to_numpy()), index=values.index)


def sqrt_nonnegative(values: Series) -> Series:
    # The estimate of Garman and Klass may be negative where bodies are large beside their ranges.
    return pd.Series(np.sqrt(values.clip(lower=0).to_numpy()), index=values.index)
