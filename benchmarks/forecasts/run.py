"""Forecasts of series by the classical methods, against reference forecasts: errors and coverage of intervals.

    PYTHONPATH=backend python -m benchmarks.forecasts.run tuned     # or: aside

Each series is forecast from several rows of its last third, each time from the rows before alone, and compared
with the last value, drift, the value of each season before and exponential smoothing. Half of the series, by
the SHA-256 of their names, are held out: methods are chosen and constants set by the other half only.
"""

import argparse
import hashlib
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from statsmodels import datasets

from app.modeling.forecasting.methods import is_reference
from app.modeling.forecasting.series_forecast import forecast_series, read_histories
from app.modeling.problem.kinds import Outlook, ProblemKind
from app.modeling.problem.problem import Problem

ORIGINS = 8
"""Rows of the last third that are forecast from: each takes a choice of methods, one to ten seconds."""


@dataclass(frozen=True)
class BenchmarkSeries:
    """A series with its times, and the rows ahead that it is forecast."""

    name: str
    times: pd.DatetimeIndex
    values: np.ndarray
    horizon: int

    @property
    def half(self) -> str:
        digest = hashlib.sha256(self.name.encode()).hexdigest()
        return "tuned" if int(digest, 16) % 2 == 0 else "aside"


def stored_series() -> Iterator[BenchmarkSeries]:
    """Yield series of the data sets that statsmodels ships and that no table kept for judging resembles."""
    weekly = datasets.co2.load_pandas().data["co2"].interpolate()
    yield BenchmarkSeries("co2.weekly", pd.DatetimeIndex(weekly.index), weekly.to_numpy(), 26)
    by_month = weekly.resample("MS").mean()
    yield BenchmarkSeries("co2.monthly", pd.DatetimeIndex(by_month.index), by_month.to_numpy(), 24)
    nino = datasets.elnino.load_pandas().data.iloc[:, 1:].to_numpy(float).ravel()
    yield BenchmarkSeries("elnino", pd.date_range("1950-01-01", periods=len(nino), freq="MS"), nino, 12)


def made_series() -> Iterator[BenchmarkSeries]:
    """Yield made series: levels, trends, seasons, noise, breaks and counts at every frequency."""
    for seed in range(3):
        chance = np.random.default_rng(seed)
        days, months, hours, weeks = np.arange(1100), np.arange(168), np.arange(24 * 70), np.arange(260)
        week = chance.normal(0, 1, 7)[days % 7]
        year = np.sin(2 * np.pi * (days / 365.25 + chance.random()))
        daily = pd.date_range("2021-01-01", periods=len(days))
        month = pd.date_range("2010-01-01", periods=len(months), freq="MS")
        hourly = pd.date_range("2024-01-01", periods=len(hours), freq="h")
        weekly = pd.date_range("2019-01-06", periods=len(weeks), freq="7D")
        walk = np.cumsum(chance.normal(0, 1, len(days)))
        yield BenchmarkSeries(f"walk.{seed}", daily, 100 + walk, 14)
        yield BenchmarkSeries(
            f"shop.{seed}", daily, np.exp(4 + 0.2 * week + 0.3 * year + chance.normal(0, 0.1, len(days))), 28
        )
        rates = np.exp(1.5 + 0.3 * week + 0.2 * year)
        yield BenchmarkSeries(f"tickets.{seed}", daily, chance.poisson(rates).astype(float), 14)
        yield BenchmarkSeries(f"rare.{seed}", daily, chance.poisson(0.4, len(days)).astype(float), 14)
        growth = np.exp(5 + 0.008 * months) * (1 + 0.2 * np.sin(months * np.pi / 6 + seed))
        yield BenchmarkSeries(
            f"airline.{seed}", month, growth * np.exp(chance.normal(0, 0.04, len(months))), 12
        )
        level = np.where(months > 100, 60.0, 40.0) + chance.normal(0, 3, len(months))
        yield BenchmarkSeries(f"break.{seed}", month, level + 5 * np.cos(months * np.pi / 6), 12)
        load = (
            50 + 10 * np.sin(hours * np.pi / 12) + 6 * (hours // 24 % 7 < 5) * np.sin(hours * np.pi / 24) ** 2
        )
        wander = 0.97 ** np.abs(np.subtract.outer(np.arange(40), np.arange(40)))
        slow = np.interp(
            hours, np.linspace(0, len(hours), 40), np.linalg.cholesky(wander) @ chance.normal(0, 2, 40)
        )
        yield BenchmarkSeries(f"load.{seed}", hourly, load + slow + chance.normal(0, 1, len(hours)), 48)
        yield BenchmarkSeries(
            f"weeks.{seed}", weekly, 30 + 8 * np.sin(weeks * np.pi / 26) + chance.normal(0, 4, len(weeks)), 13
        )
        trend = 20 + 0.3 * months + np.cumsum(chance.normal(0, 0.8, len(months)))
        yield BenchmarkSeries(f"trend.{seed}", month, trend, 12)
        short = months[:40]
        yield BenchmarkSeries(
            f"short.{seed}", month[:40], 10 + 3 * np.sin(short * np.pi / 6) + chance.normal(0, 1, 40), 6
        )


@dataclass(frozen=True)
class Outcome:
    """Errors (origins,) of the selected methods and of each reference, and the coverage of intervals."""

    series: BenchmarkSeries
    errors: np.ndarray
    references: dict[str, np.ndarray]
    coverage: float
    points: int
    seconds: float

    @property
    def best(self) -> str:
        return min(self.references, key=lambda name: float(self.references[name].mean()))

    @property
    def excess(self) -> tuple[float, float]:
        """Error above that of the best reference, relative to it, and its standard error over origins."""
        reference = self.references[self.best]
        difference = (self.errors - reference) / reference.mean()
        return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))


def evaluate(series: BenchmarkSeries) -> Outcome:
    started, rows = time.perf_counter(), len(series.values)
    last = rows - series.horizon - 1
    origins = np.unique(np.linspace(min(rows * 2 // 3, last), last, ORIGINS).astype(int))
    kind = ProblemKind.REGRESSION
    problem = Problem(
        "y", kind, "mae", time_column="t", horizon=series.horizon, every_step=True, outlook=Outlook.VALUE
    )
    errors, is_covered = [], []
    references: dict[str, list[float]] = {}
    for origin in origins:
        table = pd.DataFrame({"t": series.times[: origin + 1], "y": series.values[: origin + 1]})
        truth = series.values[origin + 1 : origin + 1 + series.horizon]
        forecast = forecast_series(table, problem)
        if forecast is None:
            raise SystemExit(f"{series.name} is too short to be forecast")
        frame = forecast.frame
        errors.append(np.abs(frame.prediction - truth).mean())
        is_covered += list((truth >= frame.low) & (truth <= frame.high))
        [history] = read_histories(table, problem)
        for name, method in history.methods(origin + 1).items():
            if is_reference(name):
                path = method(history.values, origin + 1, series.horizon, np.array([origin]))[0]
                references.setdefault(name, []).append(float(np.abs(path - truth).mean()))
    complete = {name: np.array(errors) for name, errors in references.items() if len(errors) == len(origins)}
    seconds = time.perf_counter() - started
    return Outcome(series, np.array(errors), complete, float(np.mean(is_covered)), len(is_covered), seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("half", choices=["tuned", "aside"])
    half = parser.parse_args().half
    warnings.simplefilter("ignore")
    outcomes = []
    print(f"{'series':18} {'error':>9} {'best reference':>9}  excess +- error  covered  s")
    for series in [*stored_series(), *made_series()]:
        if series.half != half:
            continue
        outcome = evaluate(series)
        outcomes.append(outcome)
        excess, error = outcome.excess
        marker = " worse" if excess > error else ""
        print(
            f"{series.name:18} {outcome.errors.mean():9.3g} {outcome.references[outcome.best].mean():9.3g}"
            f"  {excess:+.1%} +- {error:.1%}  {outcome.coverage:.0%} {outcome.seconds:5.1f}"
            f"  {outcome.best}{marker}",
            flush=True,
        )
    worse = sum(outcome.excess[0] > outcome.excess[1] for outcome in outcomes)
    much_worse = sum(outcome.excess[0] > 2 * outcome.excess[1] for outcome in outcomes)
    coverages = np.array([outcome.coverage for outcome in outcomes])
    mean = np.mean([outcome.excess[0] for outcome in outcomes])
    print(
        f"{len(outcomes)} series: mean excess {mean:+.1%};"
        f" {worse} worse by more than one error, {much_worse} by two"
    )
    nominal = int(((coverages >= 0.85) & (coverages <= 0.95)).sum())
    print(f"intervals of 90 % hold {coverages.mean():.1%} on the mean; {nominal} series within 85 to 95 %")


if __name__ == "__main__":
    main()
