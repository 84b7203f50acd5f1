"""The table of metrics: name, kind of problem, direction, label, meaning and scale. Imports no science
library."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from app.modeling.problem.kinds import ProblemKind


class MetricScale(StrEnum):
    """Range of a metric's values."""

    SHARE = "share"
    """0 to 1."""
    CORRELATION = "correlation"
    """-1 to 1."""
    EXPLAINED = "explained"
    """No lower bound, up to 1."""
    LOSS = "loss"
    """0 and above."""


@dataclass(frozen=True)
class Metric:
    """One metric. `meaning` completes "the metric is ..." and holds no numeral.

    `style`: how reports format its values (see `reporting.claims`): `score`, `quantity` in units of the target,
    or `percent`. `binary_only`: defined for two classes only. `on_request`: reported only as the problem's own
    metric. `quantile`: the quantile of the target that a pinball loss scores. `by_choice`: computed from the
    likeliest classes, not from probabilities. `scorer`: the function of `sklearn.metrics` that computes it;
    empty for a metric that `scoring.scores` computes itself.
    """

    name: str
    kind: ProblemKind
    greater_is_better: bool
    label: str
    meaning: str
    scale: MetricScale = MetricScale.LOSS
    style: str = "score"
    binary_only: bool = False
    on_request: bool = False
    quantile: float | None = None
    by_choice: bool = False
    scorer: str = ""


_CLASSES, _NUMBERS = ProblemKind.CLASSIFICATION, ProblemKind.REGRESSION
_SHARE, _CORRELATION = MetricScale.SHARE, MetricScale.CORRELATION

QUANTILE_PERCENTS = (5, 10, 25, 50, 75, 90, 95)
"""Quantiles that have a metric, in percent."""

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "roc_auc",
            _CLASSES,
            True,
            "ROC AUC",
            "how often a random positive is ranked above a random negative",
            _SHARE,
        ),
        Metric(
            "average_precision",
            _CLASSES,
            True,
            "average precision",
            "precision averaged over all recalls",
            _SHARE,
            binary_only=True,
        ),
        Metric(
            "accuracy",
            _CLASSES,
            True,
            "accuracy",
            "the share of rows that are predicted right",
            _SHARE,
            by_choice=True,
        ),
        Metric(
            "balanced_accuracy",
            _CLASSES,
            True,
            "balanced accuracy",
            "recall averaged over the classes",
            _SHARE,
            by_choice=True,
        ),
        Metric(
            "f1",
            _CLASSES,
            True,
            "F1 score",
            "the harmonic mean of precision and recall",
            _SHARE,
            by_choice=True,
        ),
        Metric(
            "precision",
            _CLASSES,
            True,
            "precision",
            "the share of flagged rows that are right",
            _SHARE,
            by_choice=True,
        ),
        Metric(
            "recall", _CLASSES, True, "recall", "the share of positives that are found", _SHARE, by_choice=True
        ),
        Metric("log_loss", _CLASSES, False, "log loss", "the penalty for confident wrong probabilities"),
        Metric(
            "brier",
            _CLASSES,
            False,
            "Brier score",
            "the mean squared error of the probabilities",
            binary_only=True,
        ),
        Metric(
            "rmse",
            _NUMBERS,
            False,
            "RMSE",
            "the root of the mean squared error, in units of the target",
            style="quantity",
        ),
        Metric(
            "mae",
            _NUMBERS,
            False,
            "MAE",
            "the mean absolute error, in units of the target",
            style="quantity",
        ),
        Metric(
            "median_ae",
            _NUMBERS,
            False,
            "median absolute error",
            "half of the errors are smaller than it",
            style="quantity",
            scorer="median_absolute_error",
        ),
        Metric(
            "mape",
            _NUMBERS,
            False,
            "MAPE",
            "the mean absolute error as a share of the actual value",
            style="percent",
        ),
        Metric(
            "r2",
            _NUMBERS,
            True,
            "R²",
            "the share of the target's variance that is explained",
            MetricScale.EXPLAINED,
        ),
        Metric(
            "mcc",
            _CLASSES,
            True,
            "Matthews correlation",
            "the correlation of truth and choice",
            _CORRELATION,
            on_request=True,
            by_choice=True,
        ),
        Metric(
            "cohen_kappa",
            _CLASSES,
            True,
            "Cohen's kappa",
            "the agreement of truth and choice beyond chance",
            _CORRELATION,
            on_request=True,
            by_choice=True,
        ),
        Metric(
            "top_3_accuracy",
            _CLASSES,
            True,
            "top three accuracy",
            "the share of rows whose class is among the three likeliest",
            _SHARE,
            on_request=True,
            by_choice=True,
        ),
        Metric(
            "cost",
            _CLASSES,
            False,
            "cost per row",
            "the mean cost of the mistakes, as the user priced them",
            binary_only=True,
            on_request=True,
            by_choice=True,
        ),
        Metric(
            "rmsle",
            _NUMBERS,
            False,
            "RMSLE",
            "the root of the mean squared error of the logarithms",
            on_request=True,
        ),
        Metric(
            "smape",
            _NUMBERS,
            False,
            "SMAPE",
            "the absolute error as a share of the mean of prediction and actual value",
            style="percent",
            on_request=True,
        ),
        Metric(
            "poisson_deviance",
            _NUMBERS,
            False,
            "Poisson deviance",
            "how badly predicted rates fit the counts",
            on_request=True,
        ),
        *(
            Metric(
                f"pinball_{percent:02}",
                _NUMBERS,
                False,
                f"pinball loss {percent:02}%",
                "the error of a predicted quantile, in the target's units",
                style="quantity",
                on_request=True,
                quantile=percent / 100,
            )
            for percent in QUANTILE_PERCENTS
        ),
    )
}
"""Every metric by name, in the order in which reports list them. The only place where a metric is declared."""

METRIC_PHRASES: tuple[tuple[str, str], ...] = (
    (r"matthews(?: correlation)?|\bmcc\b", "mcc"),
    (r"cohen'?s? kappa|\bkappa\b", "cohen_kappa"),
    (r"\btop[- ]?(?:3|three)\b", "top_3_accuracy"),
    (r"\brmsle\b|root mean squared? log\w* error|log(?:arithmic)? error", "rmsle"),
    (r"\bsmape\b|symmetric mean absolute percentage error", "smape"),
    (r"poisson(?: deviance| loss)?", "poisson_deviance"),
    (r"average precision|pr[- ]?auc|precision[- ]recall", "average_precision"),
    (r"balanced accuracy", "balanced_accuracy"),
    (r"\b(roc|auc|auroc)\b", "roc_auc"),
    (r"log[- ]?loss|cross[- ]entropy", "log_loss"),
    (r"brier|well[- ]calibrated|calibration", "brier"),
    (r"\bf1\b|\bf[- ]?score\b", "f1"),
    (r"false negatives?|\brecall\b|sensitivity|miss(ing)? as few|catch (as many|every|all)", "recall"),
    (r"false (positives?|alarms?)|\bprecision\b", "precision"),
    (r"\baccura(cy|te|tely)\b", "accuracy"),
    (r"median absolute error|\bmedian error", "median_ae"),
    (r"mean absolute percentage error|\bmape\b|percent(age)? error|relative error", "mape"),
    (r"mean absolute error|\bmae\b|absolute error", "mae"),
    (r"root mean squared? error|\brmse\b|squared error|\bmse\b", "rmse"),
    (r"\br2\b|\br²|r[- ]squared|explained variance", "r2"),
)
"""Patterns by which a goal asks for a metric. The first matching row wins: special metrics stand before the
general ones whose phrases they contain."""

QUANTILE_LEVELS = {metric.name: metric.quantile for metric in METRICS.values() if metric.quantile is not None}
"""Pinball metric -> the quantile of the target that it scores."""

if TYPE_CHECKING:
    MetricName = str
else:
    # Type checkers take no computed Literal; Pydantic does, and validates and documents the names of the table.
    MetricName = Literal[tuple(METRICS)]


def metric_names(kind: ProblemKind) -> tuple[str, ...]:
    """Names of the metrics of one kind of problem."""
    return tuple(name for name, metric in METRICS.items() if metric.kind is kind)


REGRESSION_METRICS = frozenset(metric_names(ProblemKind.REGRESSION))
