"""Metrics of many resamples at once, from how often each row was drawn."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from scipy.special import xlogy
from scipy.stats import rankdata

from app.modeling.problem.problem import QUANTILES
from app.modeling.scoring.scores import SCORES, Predicted

Statistic = Callable[[np.ndarray], np.ndarray]
"""How often each row was drawn, float32 (rows, resamples) -> the metric of each (resamples,), or nan."""
Prepare = Callable[[Predicted], Statistic]
"""What is the same for all resamples (errors, orders, ranks) is worked out once."""

STEPS = 4096
"""Different values that an order of rows is reduced to; with fewer rows nothing is lost."""
MAX_RANKED = 8_000_000
"""Rows x classes whose areas are counted anew; areas of more are moved by their rows' influence instead."""


def statistic_of(metric: str, predicted: Predicted) -> Statistic:
    """The metric of resamples of these rows; nan throughout where these rows do not define it."""
    if not np.isfinite(SCORES[metric].compute(predicted)):
        return lambda counts: np.full(counts.shape[1], np.nan)
    return STATISTICS[metric](predicted)


def _ratio(part: np.ndarray, whole: np.ndarray, otherwise: float) -> np.ndarray:
    made: np.ndarray = np.divide(part, whole, out=np.full(part.shape, otherwise), where=whole > 0)
    return made


def _summing(places: np.ndarray, width: int, keep: np.ndarray | None = None) -> Statistic:
    """Drawn rows at each place (width, resamples); only rows to `keep`, where they are named."""
    rows = np.arange(len(places)) if keep is None else np.flatnonzero(keep)
    ones = np.ones(len(rows), dtype="float32")
    table = csr_array((ones, (places[rows], rows)), shape=(width, len(places)))

    def sums(counts: np.ndarray) -> np.ndarray:
        made: np.ndarray = (table @ counts).astype("float64")
        return made

    return sums


def _steps(score: np.ndarray) -> tuple[np.ndarray, int]:
    """Each row's place in the order of a score (rows,), equal scores alike, and how many places there are."""
    _, places = np.unique(score, return_inverse=True)
    if places.max(initial=0) >= STEPS:
        _, places = np.unique((rankdata(score) * (STEPS / (len(score) + 1))).astype(int), return_inverse=True)
    return places, int(places.max(initial=0)) + 1


def _mean(values: Callable[[Predicted], np.ndarray]) -> Prepare:
    def prepare(predicted: Predicted) -> Statistic:
        worked_out = np.column_stack([values(predicted), np.ones(len(predicted.truth))]).T.astype("float32")

        def mean(counts: np.ndarray) -> np.ndarray:
            total, rows = (worked_out @ counts).astype("float64")
            means: np.ndarray = total / rows
            return means

        return mean

    return prepare


def _root_mean(values: Callable[[Predicted], np.ndarray]) -> Prepare:
    def prepare(predicted: Predicted) -> Statistic:
        mean = _mean(values)(predicted)
        return lambda counts: np.sqrt(mean(counts))

    return prepare


def _marked(score: np.ndarray, marked: np.ndarray) -> tuple[Statistic, Statistic]:
    """Drawn rows that are marked, and the others, at each step of a score from the lowest on."""
    places, width = _steps(score)
    return _summing(places, width, marked), _summing(places, width, ~marked)


def _area(score: np.ndarray, marked: np.ndarray) -> Statistic:
    count_yes, count_no = _marked(score, marked)

    def area(counts: np.ndarray) -> np.ndarray:
        yes, no = count_yes(counts), count_no(counts)
        below = np.cumsum(no, axis=0) - no / 2
        return _ratio((yes * below).sum(axis=0), yes.sum(axis=0) * no.sum(axis=0), np.nan)

    return area


def _influence(score: np.ndarray, marked: np.ndarray) -> tuple[float, np.ndarray]:
    """ROC AUC, and how much of it each row adds (rows,): its placement among the other side (DeLong)."""
    yes, no = int(marked.sum()), int((~marked).sum())
    ranks = rankdata(score)
    within = np.empty(len(score))
    within[marked], within[~marked] = rankdata(score[marked]), rankdata(score[~marked])
    placed = np.where(marked, (ranks - within) / no, 1 - (ranks - within) / yes)
    area = float(placed[marked].mean())
    return area, (placed - area) / np.where(marked, yes, no)


def _roc_auc(predicted: Predicted) -> Statistic:
    truth, output = predicted.truth, predicted.output
    if output.shape[1] == 2:
        return _area(predicted.positive_share, predicted.is_positive.astype(bool))
    present = np.unique(truth).astype(int)
    if output.size > MAX_RANKED // 100:
        found = [_influence(output[:, place], truth == place) for place in present]
        start, moves = np.mean([area for area, _ in found]), np.mean([values for _, values in found], axis=0)
        return lambda counts: start + moves.astype("float32") @ counts
    areas = [_area(output[:, place], truth == place) for place in present]

    def mean(counts: np.ndarray) -> np.ndarray:
        each = np.array([area(counts) for area in areas])
        known = np.isfinite(each)
        return _ratio(np.where(known, each, 0).sum(axis=0), known.sum(axis=0), np.nan)

    return mean


def _average_precision(predicted: Predicted) -> Statistic:
    count_yes, count_no = _marked(-predicted.positive_share, predicted.is_positive.astype(bool))

    def precision(counts: np.ndarray) -> np.ndarray:
        yes = count_yes(counts)
        hits, said = np.cumsum(yes, axis=0), np.cumsum(yes + count_no(counts), axis=0)
        return _ratio((yes * _ratio(hits, said, 0.0)).sum(axis=0), hits[-1], np.nan)

    return precision


OfChoices = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Drawn rows by class (classes, resamples): chosen rightly, chosen, being so -> a figure of each resample."""


def _of_choices(figure: OfChoices) -> Prepare:
    def prepare(predicted: Predicted) -> Statistic:
        truth, choice, classes = predicted.truth.astype(int), predicted.choice, predicted.output.shape[1]
        hits, said = _summing(truth, classes, choice == truth), _summing(choice, classes)
        is_so = _summing(truth, classes)
        return lambda counts: figure(hits(counts), said(counts), is_so(counts))

    return prepare


def _by_class(ratio: OfChoices) -> Prepare:
    """Of the positive class of a binary problem, else the mean over the classes that were drawn."""

    def prepare(predicted: Predicted) -> Statistic:
        def figure(hits: np.ndarray, said: np.ndarray, is_so: np.ndarray) -> np.ndarray:
            each = ratio(hits, said, is_so)
            if len(each) == 2:
                positive: np.ndarray = each[predicted.positive]
                return positive
            return _ratio(np.where(is_so > 0, each, 0).sum(axis=0), (is_so > 0).sum(axis=0), np.nan)

        return _of_choices(figure)(predicted)

    return prepare


def _balanced(hits: np.ndarray, said: np.ndarray, is_so: np.ndarray) -> np.ndarray:
    return _ratio(_ratio(hits, is_so, 0.0).sum(axis=0), (is_so > 0).sum(axis=0), np.nan)


def _mcc(hits: np.ndarray, said: np.ndarray, is_so: np.ndarray) -> np.ndarray:
    rows = is_so.sum(axis=0)
    spread = np.sqrt(rows**2 - (is_so**2).sum(axis=0)) * np.sqrt(rows**2 - (said**2).sum(axis=0))
    return _ratio(hits.sum(axis=0) * rows - (is_so * said).sum(axis=0), spread, 0.0)


def _cohen_kappa(hits: np.ndarray, said: np.ndarray, is_so: np.ndarray) -> np.ndarray:
    rows = is_so.sum(axis=0)
    chance = (is_so * said).sum(axis=0) / rows**2
    return _ratio(hits.sum(axis=0) / rows - chance, 1 - chance, np.nan)


def _r2(predicted: Predicted) -> Statistic:
    truth = predicted.truth - predicted.truth.mean()
    values = np.array([np.ones(len(truth)), truth, truth**2, _error(predicted) ** 2]).astype("float32")
    least = 1e-6 * float((truth**2).mean())

    def share(counts: np.ndarray) -> np.ndarray:
        rows, first, second, missed = (values @ counts).astype("float64")
        spread = second / rows - (first / rows) ** 2
        spread = np.where(spread > least, spread, 0.0)  # no more than rounding: all drawn rows are alike
        return _ratio(spread - missed / rows, spread, np.nan)

    return share


def _median_error(predicted: Predicted) -> Statistic:
    sizes = np.abs(_error(predicted))
    places, width = _steps(sizes)
    count, usual = _summing(places, width), np.bincount(places, weights=sizes) / np.bincount(places)

    def median(counts: np.ndarray) -> np.ndarray:
        reached = np.cumsum(count(counts), axis=0)
        rows = reached[-1].astype(int)
        lower, upper = ((reached > place).argmax(axis=0) for place in ((rows - 1) // 2, rows // 2))
        middle: np.ndarray = (usual[lower] + usual[upper]) / 2
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
    said = np.maximum(p.output, 1e-6)
    deviance: np.ndarray = 2 * (xlogy(p.truth, p.truth / said) - p.truth + said)
    return deviance


def _paid(p: Predicted) -> np.ndarray:
    said, is_so = p.choice == p.positive, p.truth == p.positive
    paid: np.ndarray = p.costs[0] * (said & ~is_so) + p.costs[1] * (~said & is_so)
    return paid


def _pinball(level: float) -> Prepare:
    return _mean(lambda p: np.maximum(-level * _error(p), (1 - level) * _error(p)))


STATISTICS: dict[str, Prepare] = {
    "roc_auc": _roc_auc,
    "average_precision": _average_precision,
    "log_loss": _mean(lambda p: -np.log(np.clip(_own_share(p), 1e-15, 1.0))),
    "accuracy": _mean(lambda p: p.choice == p.truth),
    "brier": _mean(lambda p: (p.positive_share - p.is_positive) ** 2),
    "balanced_accuracy": _of_choices(_balanced),
    "f1": _by_class(lambda hits, said, is_so: _ratio(2 * hits, said + is_so, 0.0)),
    "precision": _by_class(lambda hits, said, is_so: _ratio(hits, said, 0.0)),
    "recall": _by_class(lambda hits, said, is_so: _ratio(hits, is_so, 0.0)),
    "mcc": _of_choices(_mcc),
    "cohen_kappa": _of_choices(_cohen_kappa),
    "top_3_accuracy": _mean(lambda p: (p.output > _own_share(p)[:, None]).sum(axis=1) < 3),
    "cost": _mean(_paid),
    "rmse": _root_mean(lambda p: _error(p) ** 2),
    "mae": _mean(lambda p: np.abs(_error(p))),
    "median_ae": _median_error,
    "mape": _mean(lambda p: np.abs(_error(p) / p.truth)),
    "r2": _r2,
    "rmsle": _root_mean(lambda p: _log_error(p) ** 2),
    "smape": _mean(_relative),
    "poisson_deviance": _mean(_deviance),
    **{name: _pinball(level) for name, level in QUANTILES.items()},
}
