"""Metrics of many bootstrap resamples at once, computed from the number of draws of each row."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from scipy.special import xlogy
from scipy.stats import rankdata

from app.modeling.problem.metrics import METRICS, QUANTILE_LEVELS
from app.modeling.scoring.scores import SCORERS, Predicted, top_3_hits

Statistic = Callable[[np.ndarray], np.ndarray]
"""Draws of each row, float32 (rows, resamples) -> metric of each resample (resamples,), nan where undefined."""
StatisticFactory = Callable[[Predicted], Statistic]
"""Computes once what all resamples share (errors, orders, ranks), and returns the statistic."""

MAX_SCORE_STEPS = 4096
"""Distinct ranks that scores are binned to; with fewer rows the result is exact."""
MAX_RANKED_CELLS = 80_000
"""Rows x classes up to which areas are recomputed for each resample; larger ones are approximated by the
influence of each row."""


def make_statistic(metric: str, predicted: Predicted) -> Statistic:
    """Prepare the metric for resamples of these rows; always nan if it is undefined for the rows themselves."""
    if not np.isfinite(SCORERS[metric](predicted)):
        return lambda counts: np.full(counts.shape[1], np.nan)
    return STATISTICS[metric](predicted)


def _ratio(numerator: np.ndarray, denominator: np.ndarray, default: float) -> np.ndarray:
    ratio: np.ndarray = np.divide(
        numerator, denominator, out=np.full(numerator.shape, default), where=denominator > 0
    )
    return ratio


def _make_counter(positions: np.ndarray, width: int, keep: np.ndarray | None = None) -> Statistic:
    """Count the drawn rows at each position (width, resamples), of rows in the mask `keep` if there is one."""
    rows = np.arange(len(positions)) if keep is None else np.flatnonzero(keep)
    # One sparse product counts all resamples at once; float32 is exact for counts below 2**24.
    ones = np.ones(len(rows), dtype="float32")
    table = csr_array((ones, (positions[rows], rows)), shape=(width, len(positions)))

    def sums(counts: np.ndarray) -> np.ndarray:
        totals: np.ndarray = (table @ counts).astype("float64")
        return totals

    return sums


def _bin_ranks(score: np.ndarray) -> tuple[np.ndarray, int]:
    """Rank of each row's score (rows,), equal for ties, and the number of ranks."""
    _, positions = np.unique(score, return_inverse=True)
    if positions.max(initial=0) >= MAX_SCORE_STEPS:
        # Bins of ranks, not of scores: they hold about as many rows each, however skewed the scores are.
        _, positions = np.unique(
            (rankdata(score) * (MAX_SCORE_STEPS / (len(score) + 1))).astype(int), return_inverse=True
        )
    return positions, int(positions.max(initial=0)) + 1


def _mean(values: Callable[[Predicted], np.ndarray]) -> StatisticFactory:
    def prepare(predicted: Predicted) -> Statistic:
        table = np.column_stack([values(predicted), np.ones(len(predicted.truth))]).T.astype("float32")

        def mean(counts: np.ndarray) -> np.ndarray:
            total, rows = (table @ counts).astype("float64")
            means: np.ndarray = total / rows
            return means

        return mean

    return prepare


def _root_mean(values: Callable[[Predicted], np.ndarray]) -> StatisticFactory:
    def prepare(predicted: Predicted) -> Statistic:
        mean = _mean(values)(predicted)
        return lambda counts: np.sqrt(mean(counts))

    return prepare


def _count_by_rank(score: np.ndarray, is_positive: np.ndarray) -> tuple[Statistic, Statistic]:
    """Counters of drawn positives and negatives at each rank of a score, ascending."""
    ranks, width = _bin_ranks(score)
    return _make_counter(ranks, width, is_positive), _make_counter(ranks, width, ~is_positive)


def _area(score: np.ndarray, is_positive: np.ndarray) -> Statistic:
    count_positives, count_negatives = _count_by_rank(score, is_positive)

    def area(counts: np.ndarray) -> np.ndarray:
        positives, negatives = count_positives(counts), count_negatives(counts)
        # Negatives of the same rank count half, as ties do in Mann and Whitney's statistic.
        negatives_below = np.cumsum(negatives, axis=0) - negatives / 2
        return _ratio(
            (positives * negatives_below).sum(axis=0), positives.sum(axis=0) * negatives.sum(axis=0), np.nan
        )

    return area


def _influence(score: np.ndarray, is_positive: np.ndarray) -> tuple[float, np.ndarray]:
    """ROC AUC and the influence of each row on it (rows,), by placements among the other class (DeLong
    1988)."""
    positives, negatives = int(is_positive.sum()), int((~is_positive).sum())
    ranks = rankdata(score)
    within = np.empty(len(score))
    within[is_positive], within[~is_positive] = rankdata(score[is_positive]), rankdata(score[~is_positive])
    placements = np.where(is_positive, (ranks - within) / negatives, 1 - (ranks - within) / positives)
    area = float(placements[is_positive].mean())
    return area, (placements - area) / np.where(is_positive, positives, negatives)


def _roc_auc(predicted: Predicted) -> Statistic:
    truth, output = predicted.truth, predicted.output
    if output.shape[1] == 2:
        return _area(predicted.positive_share, predicted.is_positive.astype(bool))
    present = np.unique(truth).astype(int)
    if output.size > MAX_RANKED_CELLS:
        influences = [_influence(output[:, position], truth == position) for position in present]
        area, influence = (
            np.mean([class_area for class_area, _ in influences]),
            np.mean([values for _, values in influences], axis=0),
        )
        return lambda counts: area + influence.astype("float32") @ counts
    areas = [_area(output[:, position], truth == position) for position in present]

    def mean(counts: np.ndarray) -> np.ndarray:
        class_areas = np.array([area(counts) for area in areas])
        is_defined = np.isfinite(class_areas)
        return _ratio(np.where(is_defined, class_areas, 0).sum(axis=0), is_defined.sum(axis=0), np.nan)

    return mean


def _average_precision(predicted: Predicted) -> Statistic:
    # Negated, since ranks ascend and recall grows from the highest probability down.
    count_positives, count_negatives = _count_by_rank(
        -predicted.positive_share, predicted.is_positive.astype(bool)
    )

    def precision(counts: np.ndarray) -> np.ndarray:
        positives = count_positives(counts)
        hits, predicted_counts = (
            np.cumsum(positives, axis=0),
            np.cumsum(positives + count_negatives(counts), axis=0),
        )
        return _ratio((positives * _ratio(hits, predicted_counts, 0.0)).sum(axis=0), hits[-1], np.nan)

    return precision


ClassCountStatistic = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Drawn rows by class (classes, resamples): true positives, predicted, true -> statistic (resamples,)."""


def _from_class_counts(statistic: ClassCountStatistic) -> StatisticFactory:
    def prepare(predicted: Predicted) -> Statistic:
        truth, choice, classes = predicted.truth.astype(int), predicted.choice, predicted.output.shape[1]
        hits, predicted_counts = _make_counter(truth, classes, choice == truth), _make_counter(choice, classes)
        true_counts = _make_counter(truth, classes)
        return lambda counts: statistic(hits(counts), predicted_counts(counts), true_counts(counts))

    return prepare


def _from_class_ratio(ratio: ClassCountStatistic) -> StatisticFactory:
    """Apply a ratio to the positive class of a binary problem, or average it over the classes that were
    drawn."""

    def prepare(predicted: Predicted) -> Statistic:
        def statistic(hits: np.ndarray, predicted_counts: np.ndarray, true_counts: np.ndarray) -> np.ndarray:
            ratios = ratio(hits, predicted_counts, true_counts)
            if len(ratios) == 2:
                positive: np.ndarray = ratios[predicted.positive]
                return positive
            return _ratio(
                np.where(true_counts > 0, ratios, 0).sum(axis=0), (true_counts > 0).sum(axis=0), np.nan
            )

        return _from_class_counts(statistic)(predicted)

    return prepare


def _balanced(hits: np.ndarray, predicted_counts: np.ndarray, true_counts: np.ndarray) -> np.ndarray:
    return _ratio(_ratio(hits, true_counts, 0.0).sum(axis=0), (true_counts > 0).sum(axis=0), np.nan)


def _mcc(hits: np.ndarray, predicted_counts: np.ndarray, true_counts: np.ndarray) -> np.ndarray:
    rows = true_counts.sum(axis=0)
    spread = np.sqrt(rows**2 - (true_counts**2).sum(axis=0)) * np.sqrt(
        rows**2 - (predicted_counts**2).sum(axis=0)
    )
    # Zero for a constant choice, as in scikit-learn.
    return _ratio(hits.sum(axis=0) * rows - (true_counts * predicted_counts).sum(axis=0), spread, 0.0)


def _cohen_kappa(hits: np.ndarray, predicted_counts: np.ndarray, true_counts: np.ndarray) -> np.ndarray:
    rows = true_counts.sum(axis=0)
    chance = (true_counts * predicted_counts).sum(axis=0) / rows**2
    return _ratio(hits.sum(axis=0) / rows - chance, 1 - chance, np.nan)


def _r2(predicted: Predicted) -> Statistic:
    # Centred first: in float32 the difference of two large sums of squares would be mostly rounding.
    truth = predicted.truth - predicted.truth.mean()
    values = np.array([np.ones(len(truth)), truth, truth**2, _error(predicted) ** 2]).astype("float32")
    min_spread = 1e-6 * float((truth**2).mean())

    def share(counts: np.ndarray) -> np.ndarray:
        rows, first, second, squared_errors = (values @ counts).astype("float64")
        spread = second / rows - (first / rows) ** 2
        # What lies below is rounding error: the drawn labels are equal.
        spread = np.where(spread > min_spread, spread, 0.0)
        return _ratio(spread - squared_errors / rows, spread, np.nan)

    return share


def _median_error(predicted: Predicted) -> Statistic:
    sizes = np.abs(_error(predicted))
    ranks, width = _bin_ranks(sizes)
    count, bin_means = _make_counter(ranks, width), np.bincount(ranks, weights=sizes) / np.bincount(ranks)

    def median(counts: np.ndarray) -> np.ndarray:
        cumulative = np.cumsum(count(counts), axis=0)
        rows = cumulative[-1].astype(int)
        # The median of an even number of rows is the mean of the two in the middle; else both are the same row.
        lower, upper = ((cumulative > position).argmax(axis=0) for position in ((rows - 1) // 2, rows // 2))
        middle: np.ndarray = (bin_means[lower] + bin_means[upper]) / 2
        return middle

    return median


def _error(predicted: Predicted) -> np.ndarray:
    error: np.ndarray = predicted.output - predicted.truth
    return error


def _own_share(p: Predicted) -> np.ndarray:
    share: np.ndarray = p.output[np.arange(len(p.truth)), p.truth.astype(int)]
    return share


def _log_error(p: Predicted) -> np.ndarray:
    error: np.ndarray = np.log1p(np.maximum(p.output, 0)) - np.log1p(p.truth)
    return error


def _relative(p: Predicted) -> np.ndarray:
    size = np.abs(p.output) + np.abs(p.truth)
    relative: np.ndarray = 2 * np.abs(_error(p)) / np.where(size > 0, size, 1.0)
    return relative


def _deviance(p: Predicted) -> np.ndarray:
    rate = np.maximum(p.output, 1e-6)
    deviance: np.ndarray = 2 * (xlogy(p.truth, p.truth / rate) - p.truth + rate)
    return deviance


def _row_costs(p: Predicted) -> np.ndarray:
    is_predicted, is_true = p.choice == p.positive, p.truth == p.positive
    row_costs: np.ndarray = p.costs[0] * (is_predicted & ~is_true) + p.costs[1] * (~is_predicted & is_true)
    return row_costs


def _pinball(level: float) -> StatisticFactory:
    return _mean(lambda p: np.maximum(-level * _error(p), (1 - level) * _error(p)))


_OWN_STATISTICS: dict[str, StatisticFactory] = {
    "roc_auc": _roc_auc,
    "average_precision": _average_precision,
    "log_loss": _mean(lambda p: -np.log(np.clip(_own_share(p), 1e-15, 1.0))),
    "accuracy": _mean(lambda p: p.choice == p.truth),
    "brier": _mean(lambda p: (p.positive_share - p.is_positive) ** 2),
    "balanced_accuracy": _from_class_counts(_balanced),
    "f1": _from_class_ratio(lambda hits, predicted, actual: _ratio(2 * hits, predicted + actual, 0.0)),
    "precision": _from_class_ratio(lambda hits, predicted, actual: _ratio(hits, predicted, 0.0)),
    "recall": _from_class_ratio(lambda hits, predicted, actual: _ratio(hits, actual, 0.0)),
    "mcc": _from_class_counts(_mcc),
    "cohen_kappa": _from_class_counts(_cohen_kappa),
    "top_3_accuracy": _mean(top_3_hits),
    "cost": _mean(_row_costs),
    "rmse": _root_mean(lambda p: _error(p) ** 2),
    "mae": _mean(lambda p: np.abs(_error(p))),
    "median_ae": _median_error,
    "mape": _mean(lambda p: np.abs(_error(p) / p.truth)),
    "r2": _r2,
    "rmsle": _root_mean(lambda p: _log_error(p) ** 2),
    "smape": _mean(_relative),
    "poisson_deviance": _mean(_deviance),
    **{name: _pinball(level) for name, level in QUANTILE_LEVELS.items()},
}


def score_one_by_one(metric: str) -> StatisticFactory:
    """Score each resample by itself. Slow, but right for a metric without a statistic of its own."""

    def prepare(predicted: Predicted) -> Statistic:
        rows = np.arange(len(predicted.truth))

        def score(draws: np.ndarray) -> float:
            return SCORERS[metric](predicted.take(np.repeat(rows, draws.astype(int))))

        return lambda counts: np.array([score(draws) for draws in counts.T])

    return prepare


STATISTICS: dict[str, StatisticFactory] = {
    metric: _OWN_STATISTICS.get(metric) or score_one_by_one(metric) for metric in METRICS
}
