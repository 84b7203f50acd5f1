"""Bootstrap intervals of metrics."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from app.counts import describe_count
from app.modeling.facts.computation_facts import Interval
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.scoring.bootstrap_metrics import make_statistic
from app.modeling.scoring.few_blocks import limit_bounds
from app.modeling.scoring.independent_units import IndependentUnits, UnitKind, jackknife_error
from app.modeling.scoring.perfect_scores import bound_perfect_score
from app.modeling.scoring.score_transforms import clip_to_range, get_transform, to_unbounded
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


@dataclass(frozen=True)
class Resampling:
    """A resampling scheme: units of rows are drawn, or left out one by one if they are few."""

    units: IndependentUnits
    resamples: int

    @property
    def method(self) -> str:
        """The method of the intervals, for the report."""
        unit_name = _describe_units(self.units)
        if self.units.count < 2:
            return f"no intervals, since all rows are one unit ({unit_name})"
        if self.units.is_few:
            return f"95% jackknife over {unit_name}, with Student's t"
        shape = "percentile" if self.resamples >= MIN_PERCENTILES else "normal"
        return f"95% {shape} bootstrap over {unit_name}, {self.resamples} resamples"


def make_resampling(units: IndependentUnits) -> Resampling:
    """Make the scheme for rows with these units."""
    rows = len(units.clusters)
    return Resampling(units, int(np.clip(MAX_DRAWN_ROWS // max(rows, 1), MIN_RESAMPLES, MAX_RESAMPLES)))


def _describe_units(units: IndependentUnits) -> str:
    if units.kind is UnitKind.ROWS:
        return "rows"
    if units.kind is UnitKind.BLOCKS:
        noun = "row" if units.cluster_count == len(units.clusters) else "moment"
        return f"blocks of {describe_count(units.block_length, noun)} in time order"
    if units.kind is UnitKind.GROUPS:
        return describe_count(units.count, "group")
    return describe_count(units.count, "distinct row")


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
    for counts in _resample(resampling, rng):
        for name, statistic in statistics.items():
            batches[name].append(statistic(counts))
        baseline_batches.append(baseline_statistic(counts))
    resampled = {name: np.concatenate(parts) for name, parts in batches.items()}
    intervals = {
        metric.name: bound_perfect_score(
            _make_interval(SCORERS[metric.name](predicted), resampled[metric.name], resampling, metric.name),
            predicted,
            metric.name,
            resampling.units.count,
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
    for counts in _resample(resampling, rng):
        for name, (statistic, other_statistic) in statistics.items():
            batches[name].append(other_statistic(counts) - statistic(counts))
    return {
        name: _make_interval(SCORERS[name](second) - SCORERS[name](first), np.concatenate(parts), resampling)
        for name, parts in batches.items()
    }


def draw_counts(resampling: Resampling, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield how often each row is drawn, float32 (rows, resamples), a few resamples at a time."""
    units = resampling.units
    rows = len(units.clusters)
    batch_resamples = max(1, MAX_BATCH_CELLS // max(rows, 1))
    for start in range(0, resampling.resamples, batch_resamples):
        count = min(batch_resamples, resampling.resamples - start)
        counts = np.empty((rows, count), dtype="float32")
        for number in range(count):
            draws = np.bincount(_draw_clusters(units, rng), minlength=units.cluster_count)
            counts[:, number] = draws[units.clusters]
        yield counts


def _draw_clusters(units: IndependentUnits, rng: np.random.Generator) -> np.ndarray:
    """Draw as many clusters as there are, so that the number of rows varies as it would in new ones."""
    clusters, length = units.cluster_count, units.block_length
    if units.kind is not UnitKind.BLOCKS:
        return rng.integers(0, clusters, clusters)
    # Blocks may begin at any moment: a few fixed ones would give few different resamples. The last one is cut.
    starts = rng.integers(0, clusters - length + 1, math.ceil(clusters / length))
    positions: np.ndarray = (starts[:, None] + np.arange(length)).ravel()[:clusters]
    return positions


def _resample(resampling: Resampling, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield counts of rows (rows, resamples): all without one unit each if units are few, else drawn ones."""
    units = resampling.units
    # A single unit is drawn like others, and its scores have no bounds.
    if not units.is_few or units.count < 2:
        yield from draw_counts(resampling, rng)
        return
    batch_units = max(1, MAX_BATCH_CELLS // len(units.clusters))
    for start in range(0, units.count, batch_units):
        yield units.leave_each_out(range(start, min(start + batch_units, units.count)))


def _make_interval(
    value: float, resampled: np.ndarray, resampling: Resampling, metric: str | None = None
) -> Interval:
    """The 95% interval of a value from its resamples, within the range of the metric if one is named.

    Bounds are None for a single unit, or if more than a tenth of the resamples has no score, for example for
    lack of a class.
    """
    units = resampling.units
    # Leaving out many undefined resamples would bias the bounds to those that have all classes.
    finite = resampled[np.isfinite(resampled)]
    if units.count < 2 or len(finite) < 0.9 * len(resampled):
        return {"value": round_significant(value), "low": None, "high": None}
    if units.is_few:
        reach = units.quantile(0.025)
        low, high = limit_bounds(
            value,
            _symmetric_bounds(value, finite, metric, lambda scores: reach * jackknife_error(scores)),
            metric,
            units,
        )
    elif len(resampled) < MIN_PERCENTILES:
        low, high = _symmetric_bounds(
            value, finite, metric, lambda scores: 1.96 * float(np.std(scores, ddof=1))
        )
    else:
        # Few of the units may be so large that they tell as little as two.
        low, high = map(float, percentile_bounds(finite, max(units.effective_count, 2.0)))
    return {"value": round_significant(value), "low": round_significant(low), "high": round_significant(high)}


def percentile_bounds(resampled: np.ndarray, unit_count: float) -> np.ndarray:
    """Return lower and upper bounds (2, ...) of resampled scores (resamples, ...) at 95 %.

    Percentiles lie further out for few units (Hesterberg 2015, expanded percentiles).
    """
    tail = stats.norm.cdf(np.sqrt(unit_count / (unit_count - 1)) * stats.t.ppf(0.025, unit_count - 1))
    bounds: np.ndarray = np.quantile(resampled, [tail, 1 - tail], axis=0)
    return bounds


def _symmetric_bounds(
    value: float, resampled: np.ndarray, metric: str | None, find_half_width: Callable[[np.ndarray], float]
) -> tuple[float, float]:
    """Return bounds as far below as above the value, on the unbounded scale of the metric."""
    if metric is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            positions = np.asarray(get_transform(metric).to_unbounded(resampled))
        middle = to_unbounded(metric, value)
        # A score at an end of its range has no place on the unbounded scale.
        if np.isfinite(middle) and np.isfinite(positions).all():
            half_width, back = find_half_width(positions), get_transform(metric).from_unbounded
            return float(back(middle - half_width)), float(back(middle + half_width))
    half_width = find_half_width(resampled)
    return clip_to_range(metric, value - half_width, value + half_width)
