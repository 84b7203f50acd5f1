"""Bootstrap intervals of metrics."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from app.modeling.facts.computation_facts import Interval
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.scoring.bootstrap_metrics import make_statistic
from app.modeling.scoring.perfect_scores import bound_perfect_score
from app.modeling.scoring.score_transforms import get_transform, to_unbounded
from app.modeling.scoring.scores import SCORERS, Predicted, applicable_metrics
from app.modeling.table.json_values import round_significant

MAX_RESAMPLES = 1000
"""Resamples of a table whose rows allow it: 25 lie beyond each bound of a 95% interval."""
MIN_RESAMPLES = 100
"""Resamples of the largest tables; in between, as many as MAX_DRAWN_ROWS allows."""
MAX_DRAWN_ROWS = 4_000_000
"""Rows drawn over all resamples, so that a large hold-out takes about a second."""
MIN_PERCENTILES = 400
"""With fewer resamples (of many rows), the interval is normal: 1.96 standard deviations to each side."""
MAX_BATCH_CELLS = 4_000_000
"""Rows times resamples that are counted at once: bounds memory to 16 MB."""
MIN_BLOCKS = 20
"""Blocks are as long as this number of them allows, so that intervals cover changes between periods."""

Draw = Callable[[np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Resampling:
    """A resampling scheme. `unit_name` describes what is drawn, for the report."""

    draw: Draw
    unit_name: str
    resamples: int
    unit_count: int
    """Number of units that are drawn: rows, blocks or groups."""

    @property
    def method(self) -> str:
        shape = "percentile" if self.resamples >= MIN_PERCENTILES else "normal"
        return f"95% {shape} bootstrap over {self.unit_name}, {self.resamples} resamples"


def make_resampling(rows: int, problem: Problem, groups: pd.Series | None = None) -> Resampling:
    """Draw blocks of neighbours if time orders the rows (which lie in that order), else groups, else single
    rows."""
    resamples = int(np.clip(MAX_DRAWN_ROWS // max(rows, 1), MIN_RESAMPLES, MAX_RESAMPLES))
    if problem.time_column:
        # Labels overlap for a horizon, so only rows further apart than that may be drawn as independent ones.
        overlap_rows = 2 * (problem.horizon or 0) * problem.forecasts_per_row
        # Blocks that grow with the cube root of the rows have the least error of a variance (Künsch 1989).
        block_rows = max(math.ceil(rows ** (1 / 3)), overlap_rows, rows // MIN_BLOCKS)
        length = min(max(block_rows, 1), max(rows // 2, 1))
        unit_count = max(rows // length, 2)
        return Resampling(
            _blocks(rows, length), f"blocks of {length} rows in time order", resamples, unit_count
        )
    if groups is not None and groups.nunique() > 1:
        count = int(groups.nunique())
        return Resampling(_clusters(groups), f"{count} groups", resamples, count)
    return Resampling(lambda rng: rng.integers(0, rows, rows), "rows", resamples, max(rows, 2))


def _blocks(rows: int, length: int) -> Draw:
    count = math.ceil(rows / length)

    def draw(rng: np.random.Generator) -> np.ndarray:
        starts = rng.integers(0, rows - length + 1, count)
        # Blocks may begin at any row: a few fixed ones would give few different resamples. The last one is cut.
        positions: np.ndarray = (starts[:, None] + np.arange(length)).ravel()[:rows]
        return positions

    return draw


def _clusters(groups: pd.Series) -> Draw:
    labels = groups.reset_index(drop=True)
    members = [group.index.to_numpy() for _, group in labels.groupby(labels, sort=True)]

    def draw(rng: np.random.Generator) -> np.ndarray:
        # As many groups as there are, so that the number of rows varies as it would in new groups.
        return np.concatenate([members[number] for number in rng.integers(0, len(members), len(members))])

    return draw


def bootstrap(
    predicted: Predicted, baseline: Predicted, problem: Problem, resampling: Resampling, seed: int
) -> tuple[dict[str, Interval], Interval]:
    """Every metric with its interval, and the gain of the problem's metric over the baseline.

    Model and baseline are scored on the same drawn rows.
    """
    rng = np.random.default_rng(seed)
    metrics = applicable_metrics(problem)
    main = METRICS[problem.metric]
    sign = 1 if main.greater_is_better else -1
    statistics = {metric.name: make_statistic(metric.name, predicted) for metric in metrics}
    baseline_statistic = make_statistic(main.name, baseline)
    batches: dict[str, list[np.ndarray]] = {metric.name: [] for metric in metrics}
    baseline_batches: list[np.ndarray] = []
    for counts in draw_counts(resampling, len(predicted.truth), rng):
        for name, statistic in statistics.items():
            batches[name].append(statistic(counts))
        baseline_batches.append(baseline_statistic(counts))
    resampled = {name: np.concatenate(parts) for name, parts in batches.items()}
    intervals = {
        metric.name: bound_perfect_score(
            _make_interval(SCORERS[metric.name](predicted), resampled[metric.name], resampling, metric.name),
            predicted,
            metric.name,
            resampling.unit_count,
        )
        for metric in metrics
    }
    difference = sign * (SCORERS[main.name](predicted) - SCORERS[main.name](baseline))
    return intervals, _make_interval(
        difference, sign * (resampled[main.name] - np.concatenate(baseline_batches)), resampling
    )


def bootstrap_differences(
    first: Predicted, second: Predicted, metrics: Sequence[str], resampling: Resampling, seed: int
) -> dict[str, Interval]:
    """Every metric of `second` minus that of `first`, with its interval.

    Both are scored on the same drawn rows, and must have the same truth, row by row.
    """
    rng = np.random.default_rng(seed)
    statistics = {name: (make_statistic(name, first), make_statistic(name, second)) for name in metrics}
    batches: dict[str, list[np.ndarray]] = {name: [] for name in metrics}
    for counts in draw_counts(resampling, len(first.truth), rng):
        for name, (statistic, other_statistic) in statistics.items():
            batches[name].append(other_statistic(counts) - statistic(counts))
    return {
        name: _make_interval(SCORERS[name](second) - SCORERS[name](first), np.concatenate(parts), resampling)
        for name, parts in batches.items()
    }


def draw_counts(resampling: Resampling, rows: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield how often each row is drawn, float32 (rows, resamples), a few resamples at a time."""
    batch_resamples = max(1, MAX_BATCH_CELLS // max(rows, 1))
    for start in range(0, resampling.resamples, batch_resamples):
        count = min(batch_resamples, resampling.resamples - start)
        counts = np.empty((rows, count), dtype="float32")
        for number in range(count):
            counts[:, number] = np.bincount(resampling.draw(rng), minlength=rows)
        yield counts


def _make_interval(
    value: float, resampled: np.ndarray, resampling: Resampling, metric: str | None = None
) -> Interval:
    """The 95% interval of a value from its resamples, within the range of the metric if one is named.

    Bounds are None if more than a tenth of the resamples has no score, for example for lack of a class.
    """
    # Leaving out many undefined resamples would bias the bounds to those that have all classes.
    finite = resampled[np.isfinite(resampled)]
    if len(finite) < 0.9 * len(resampled):
        return {"value": round_significant(value), "low": None, "high": None}
    if len(resampled) < MIN_PERCENTILES:
        low, high = _normal(value, finite, metric)
        return {
            "value": round_significant(value),
            "low": round_significant(low),
            "high": round_significant(high),
        }
    low, high = percentile_bounds(finite, resampling.unit_count)
    return {
        "value": round_significant(value),
        "low": round_significant(float(low)),
        "high": round_significant(float(high)),
    }


def percentile_bounds(resampled: np.ndarray, unit_count: int) -> np.ndarray:
    """Return lower and upper bounds (2, ...) of resampled scores (resamples, ...) at 95 %.

    Percentiles lie further out for few units (Hesterberg 2015, expanded percentiles).
    """
    tail = stats.norm.cdf(np.sqrt(unit_count / (unit_count - 1)) * stats.t.ppf(0.025, unit_count - 1))
    bounds: np.ndarray = np.quantile(resampled, [tail, 1 - tail], axis=0)
    return bounds


def _normal(value: float, resampled: np.ndarray, metric: str | None) -> tuple[float, float]:
    """1.96 standard deviations to each side, on the unbounded scale of the metric."""
    half_width = 1.96 * float(resampled.std(ddof=1))
    if metric is None:
        return value - half_width, value + half_width
    with np.errstate(divide="ignore", invalid="ignore"):
        positions = get_transform(metric).to_unbounded(resampled)
    middle = to_unbounded(metric, value)
    half_width = 1.96 * float(np.std(positions, ddof=1))
    # A score at an end of its range has no place on the unbounded scale.
    if not np.isfinite([middle, half_width]).all():
        return float(resampled.min()), float(resampled.max())
    from_unbounded = get_transform(metric).from_unbounded
    return float(from_unbounded(middle - half_width)), float(from_unbounded(middle + half_width))
