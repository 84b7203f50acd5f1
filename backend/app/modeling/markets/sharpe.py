"""Sharpe ratios and their errors, and the performance figures of a strategy."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import kurtosis, norm, skew

from app.modeling.markets.backtest import StrategyReturns, drawdown, equity_curve

EULER = 0.5772156649015329
"""The Euler-Mascheroni constant."""


@dataclass(frozen=True)
class Moments:
    """Statistics of returns per bar: count, Sharpe ratio (not annualised), skewness, kurtosis (3 for a
    normal)."""

    bars: int
    sharpe: float
    skew: float
    kurtosis: float


def sharpe_ratio(returns: np.ndarray) -> float:
    """Compute mean over standard deviation, per bar (Sharpe 1994, no interest on cash); 0 without variation."""
    if len(returns) < 2:
        return 0.0
    spread = float(returns.std(ddof=1))
    return float(returns.mean()) / spread if spread > 1e-15 else 0.0


def sortino_ratio(returns: np.ndarray) -> float:
    """Compute mean over downside deviation, per bar (Sortino & van der Meer 1991, target 0)."""
    # Over all bars: a mean over the losing ones alone would not reward that there are few of them.
    below = float(np.sqrt(np.mean(np.minimum(returns, 0.0) ** 2))) if len(returns) else 0.0
    return float(returns.mean()) / below if below > 1e-15 else 0.0


def compute_moments(returns: np.ndarray) -> Moments:
    """Compute the statistics of returns per bar; those of a normal for fewer than 3 bars or constant
    returns."""
    if len(returns) < 3 or float(returns.std()) < 1e-15:
        return Moments(len(returns), 0.0, 0.0, 3.0)
    return Moments(
        len(returns), sharpe_ratio(returns), float(skew(returns)), float(kurtosis(returns, fisher=False))
    )


def standard_error(statistics: Moments) -> float:
    """Standard error of a Sharpe ratio per bar, for skewed and fat-tailed returns (Mertens 2002; Lo 2002 for
    normal ones)."""
    inside = 1 - statistics.skew * statistics.sharpe + (statistics.kurtosis - 1) / 4 * statistics.sharpe**2
    # The term reaches 0, and by rounding less, where returns have only two values.
    return float(np.sqrt(max(inside, 1e-12) / max(statistics.bars - 1, 1)))


def probabilistic_sharpe(statistics: Moments, benchmark: float = 0.0) -> float:
    """Probability that the true Sharpe ratio exceeds `benchmark`, both per bar (Bailey & López de Prado
    2012)."""
    return float(norm.cdf((statistics.sharpe - benchmark) / standard_error(statistics)))


def expected_highest(trials: int, variance: float) -> float:
    """Expected highest Sharpe ratio of this number of worthless trials (Bailey & López de Prado 2014, eq. 1).

    `variance`: of the trials' Sharpe ratios per bar.
    """
    if trials < 2:
        return 0.0
    high = (1 - EULER) * norm.ppf(1 - 1 / trials) + EULER * norm.ppf(1 - 1 / (trials * np.e))
    return float(np.sqrt(variance) * high)


def deflated_sharpe(statistics: Moments, trials: int, variance: float) -> float:
    """Probability that the true Sharpe ratio exceeds the luck of so many trials (Bailey & López de Prado
    2014)."""
    return probabilistic_sharpe(statistics, expected_highest(trials, variance))


def bars_per_year(seconds: float, bars: int) -> float:
    """Number of bars in a year of 365.25 days, from the number in a span of seconds."""
    return bars / seconds * 31_557_600.0 if seconds > 0 else float(bars)


def performance_figures(strategy: StrategyReturns, per_year: float) -> dict[str, float]:
    """Compute the figures of a strategy; ratios annualised by the square root of time, shares as fractions."""
    net, root = strategy.net, float(np.sqrt(per_year))
    # Bars without a position would count as misses.
    invested = strategy.exposure > 0
    curve = equity_curve(net)
    last = float(curve[-1]) if len(curve) else 1.0
    return {
        "total_return": last - 1,
        # Less than a month is not compounded: a good week would become a return of thousands of percent.
        "annual_return": float(np.sign(last) * abs(last) ** (per_year / max(len(net), 1)) - 1)
        if len(net) >= per_year / 12
        else float(net.mean() * per_year),
        "volatility": float(net.std(ddof=1)) * root if len(net) > 1 else 0.0,
        "sharpe": sharpe_ratio(net) * root,
        "sharpe_error": standard_error(compute_moments(net)) * root,
        "sortino": sortino_ratio(net) * root,
        "max_drawdown": float(abs(drawdown(net).min())) if len(net) else 0.0,
        "turnover": float(strategy.turnover.mean() * per_year) if len(net) else 0.0,
        "hit_rate": float((strategy.gross[invested] > 0).mean()) if invested.any() else 0.0,
        "exposure": float(strategy.exposure.mean()) if len(net) else 0.0,
        "paid": float(strategy.costs.sum()),
    }
