"""Bootstrap intervals: how much a score would move with other rows of the same kind."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from app.modeling.problem.problem import Problem
from app.modeling.problem.results import Interval
from app.modeling.scoring.metric_ranges import place_of, range_of
from app.modeling.scoring.resampled import statistic_of
from app.modeling.scoring.scores import SCORES, Predicted, scores_for
from app.modeling.table.json_values import round_significant

MAX_RESAMPLES = 1000
MIN_RESAMPLES = 100
ROWS_IN_ALL = 4_000_000
"""Rows drawn over all resamples, so that a large hold-out takes a second too."""
MIN_PERCENTILES = 400
"""With fewer resamples (of many rows) the interval is the score and 1.96 of their standard deviations."""
CELLS_AT_ONCE = 4_000_000
MIN_BLOCKS = 20
"""Blocks are as long as this many allow: scores move from one period to the next, and intervals show it."""

Draw = Callable[[np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Resampling:
    """How rows are drawn anew, and that in words. Rows that belong together are drawn together."""

    draw: Draw
    what: str
    resamples: int
    units: int
    """How many things are drawn: rows, blocks or groups."""

    @property
    def method(self) -> str:
        shape = "percentile" if self.resamples >= MIN_PERCENTILES else "normal"
        return f"95% {shape} bootstrap over {self.what}, {self.resamples} resamples"


def resampling(rows: int, problem: Problem, groups: pd.Series | None = None) -> Resampling:
    """Blocks of neighbours where time orders the rows (as they lie), whole groups, else single rows."""
    resamples = int(np.clip(ROWS_IN_ALL // max(rows, 1), MIN_RESAMPLES, MAX_RESAMPLES))
    if problem.time_column:
        reach = 2 * (problem.horizon or 0) * problem.forecasts_per_row
        apart = max(math.ceil(rows ** (1 / 3)), reach, rows // MIN_BLOCKS)
        length = min(max(apart, 1), max(rows // 2, 1))
        units = max(rows // length, 2)
        return Resampling(_blocks(rows, length), f"blocks of {length} rows in time order", resamples, units)
    if groups is not None and groups.nunique() > 1:
        count = int(groups.nunique())
        return Resampling(_clusters(groups), f"{count} groups", resamples, count)
    return Resampling(lambda rng: rng.integers(0, rows, rows), "rows", resamples, max(rows, 2))


def _blocks(rows: int, length: int) -> Draw:
    count = math.ceil(rows / length)

    def draw(rng: np.random.Generator) -> np.ndarray:
        starts = rng.integers(0, rows - length + 1, count)
        drawn: np.ndarray = (starts[:, None] + np.arange(length)).ravel()[:rows]
        return drawn

    return draw


def _clusters(groups: pd.Series) -> Draw:
    places = groups.reset_index(drop=True)
    members = [part.index.to_numpy() for _, part in places.groupby(places, sort=True)]

    def draw(rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([members[place] for place in rng.integers(0, len(members), len(members))])

    return draw


def bootstrap(
    predicted: Predicted, baseline: Predicted, problem: Problem, how: Resampling, seed: int
) -> tuple[dict[str, Interval], Interval]:
    """Every metric with its interval, and how much better than the baseline the problem's metric is.

    Model and baseline are judged on the same drawn rows.
    """
    rng = np.random.default_rng(seed)
    scores = scores_for(problem)
    main = SCORES[problem.metric]
    sign = 1 if main.greater_is_better else -1
    statistics = {score.name: statistic_of(score.name, predicted) for score in scores}
    naive = statistic_of(main.name, baseline)
    drawn: dict[str, list[np.ndarray]] = {score.name: [] for score in scores}
    of_naive: list[np.ndarray] = []
    for counts in _counted(how, len(predicted.truth), rng):
        for name, statistic in statistics.items():
            drawn[name].append(statistic(counts))
        of_naive.append(naive(counts))
    whole = {name: np.concatenate(parts) for name, parts in drawn.items()}
    intervals = {
        score.name: _interval(score.compute(predicted), whole[score.name], how, score.name) for score in scores
    }
    difference = sign * (main.compute(predicted) - main.compute(baseline))
    return intervals, _interval(difference, sign * (whole[main.name] - np.concatenate(of_naive)), how)


def _counted(how: Resampling, rows: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """How often each row is drawn (rows, resamples), a few resamples at a time."""
    at_once = max(1, CELLS_AT_ONCE // max(rows, 1))
    for start in range(0, how.resamples, at_once):
        count = min(at_once, how.resamples - start)
        counts = np.empty((rows, count), dtype="float32")
        for place in range(count):
            counts[:, place] = np.bincount(how.draw(rng), minlength=rows)
        yield counts


def _interval(value: float, drawn: np.ndarray, how: Resampling, metric: str | None = None) -> Interval:
    """Never beyond the metric's range, where one is named. Without bounds where more than a tenth of the
    resamples had no score, for example one class only.

    Percentiles lie further out where few units were drawn (Hesterberg's expanded percentiles).
    """
    known = drawn[np.isfinite(drawn)]
    if len(known) < 0.9 * len(drawn):
        return {"value": round_significant(value), "low": None, "high": None}
    if len(drawn) < MIN_PERCENTILES:
        low, high = _normal(value, known, metric)
        return {
            "value": round_significant(value),
            "low": round_significant(low),
            "high": round_significant(high),
        }
    tail = stats.norm.cdf(np.sqrt(how.units / (how.units - 1)) * stats.t.ppf(0.025, how.units - 1))
    low, high = np.quantile(known, [tail, 1 - tail])
    return {
        "value": round_significant(value),
        "low": round_significant(float(low)),
        "high": round_significant(float(high)),
    }


def _normal(value: float, drawn: np.ndarray, metric: str | None) -> tuple[float, float]:
    """1.96 standard deviations to each side, on a scale on which the metric has no end."""
    reach = 1.96 * float(drawn.std(ddof=1))
    if metric is None:
        return value - reach, value + reach
    with np.errstate(divide="ignore", invalid="ignore"):
        places = range_of(metric).to(drawn)
    middle = place_of(metric, value)
    reach = 1.96 * float(np.std(places, ddof=1))
    if not np.isfinite([middle, reach]).all():
        return float(drawn.min()), float(drawn.max())
    back = range_of(metric).back
    return float(back(middle - reach)), float(back(middle + reach))
