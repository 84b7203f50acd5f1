"""What a series of returns is worth, and how sure that is."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import kurtosis, norm, skew

from app.modeling.markets.backtest import StrategyReturns, drawdown, equity

EULER = 0.5772156649015329


@dataclass(frozen=True)
class Moments:
    """Of returns per bar: how many, Sharpe ratio (not annualised), skewness, kurtosis (3 for a normal)."""

    bars: int
    sharpe: float
    skew: float
    kurtosis: float


def sharpe_ratio(returns: np.ndarray) -> float:
    """Mean over standard deviation, per bar (Sharpe 1994, cash earns nothing); 0 where nothing moves."""
    if len(returns) < 2:
        return 0.0
    spread = float(returns.std(ddof=1))
    return float(returns.mean()) / spread if spread > 1e-15 else 0.0


def sortino_ratio(returns: np.ndarray) -> float:
    """Mean over downside deviation, per bar (Sortino & van der Meer 1991, target 0)."""
    below = float(np.sqrt(np.mean(np.minimum(returns, 0.0) ** 2))) if len(returns) else 0.0
    return float(returns.mean()) / below if below > 1e-15 else 0.0


def moments(returns: np.ndarray) -> Moments:
    if len(returns) < 3 or float(returns.std()) < 1e-15:
        return Moments(len(returns), 0.0, 0.0, 3.0)
    return Moments(
        len(returns), sharpe_ratio(returns), float(skew(returns)), float(kurtosis(returns, fisher=False))
    )


def standard_error(of: Moments) -> float:
    """Of a Sharpe ratio per bar, for skewed and fat-tailed returns (Mertens 2002; Lo 2002 for normal ones)."""
    inside = 1 - of.skew * of.sharpe + (of.kurtosis - 1) / 4 * of.sharpe**2
    return float(np.sqrt(max(inside, 1e-12) / max(of.bars - 1, 1)))


def probabilistic_sharpe(of: Moments, benchmark: float = 0.0) -> float:
    """How probably the true Sharpe ratio is above `benchmark`, both per bar (Bailey & López de Prado 2012)."""
    return float(norm.cdf((of.sharpe - benchmark) / standard_error(of)))


def expected_highest(trials: int, variance: float) -> float:
    """The Sharpe ratio that the best of so many worthless trials shows (Bailey & López de Prado 2014, eq. 1).

    `variance`: of the trials' Sharpe ratios per bar.
    """
    if trials < 2:
        return 0.0
    high = (1 - EULER) * norm.ppf(1 - 1 / trials) + EULER * norm.ppf(1 - 1 / (trials * np.e))
    return float(np.sqrt(variance) * high)


def deflated_sharpe(of: Moments, trials: int, variance: float) -> float:
    """The probabilistic Sharpe ratio against the luck of so many trials (Bailey & López de Prado 2014)."""
    return probabilistic_sharpe(of, expected_highest(trials, variance))


def bars_per_year(seconds: float, bars: int) -> float:
    """Bars in a year of 365.25 days, from how many lie in a span."""
    return bars / seconds * 31_557_600.0 if seconds > 0 else float(bars)


def measured(book: StrategyReturns, per_year: float) -> dict[str, float]:
    """The figures of a played strategy; ratios annualised by the square root of time, shares as fractions."""
    net, root = book.net, float(np.sqrt(per_year))
    at_work = book.exposure > 0
    grown = equity(net)
    last = float(grown[-1]) if len(grown) else 1.0
    return {
        "total_return": last - 1,
        "annual_return": float(np.sign(last) * abs(last) ** (per_year / max(len(net), 1)) - 1)
        if len(net) >= per_year / 12
        else float(net.mean() * per_year),
        "volatility": float(net.std(ddof=1)) * root if len(net) > 1 else 0.0,
        "sharpe": sharpe_ratio(net) * root,
        "sharpe_error": standard_error(moments(net)) * root,
        "sortino": sortino_ratio(net) * root,
        "max_drawdown": float(abs(drawdown(net).min())) if len(net) else 0.0,
        "turnover": float(book.turnover.mean() * per_year) if len(net) else 0.0,
        "hit_rate": float((book.gross[at_work] > 0).mean()) if at_work.any() else 0.0,
        "exposure": float(book.exposure.mean()) if len(net) else 0.0,
        "paid": float(book.paid.sum()),
    }
