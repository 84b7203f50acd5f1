"""Metrics as people name them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """`style` is a claim style; `meaning` completes "the metric is ..." and holds no numeral."""

    label: str
    greater_is_better: bool
    style: str
    meaning: str


METRICS: dict[str, Metric] = {
    "roc_auc": Metric(
        "ROC AUC", True, "score", "how often a random positive is ranked above a random negative"
    ),
    "average_precision": Metric("average precision", True, "score", "precision averaged over all recalls"),
    "accuracy": Metric("accuracy", True, "score", "the share of rows that are predicted right"),
    "balanced_accuracy": Metric("balanced accuracy", True, "score", "recall averaged over the classes"),
    "f1": Metric("F1", True, "score", "the harmonic mean of precision and recall"),
    "precision": Metric("precision", True, "score", "the share of flagged rows that are right"),
    "recall": Metric("recall", True, "score", "the share of positives that are found"),
    "log_loss": Metric("log loss", False, "score", "the penalty for confident wrong probabilities"),
    "brier": Metric("Brier score", False, "score", "the mean squared error of the probabilities"),
    "rmse": Metric("RMSE", False, "quantity", "the root of the mean squared error, in units of the target"),
    "mae": Metric("MAE", False, "quantity", "the mean absolute error, in units of the target"),
    "median_ae": Metric("median absolute error", False, "quantity", "half of the errors are smaller than it"),
    "mape": Metric("MAPE", False, "percent", "the mean absolute error as a share of the actual value"),
    "r2": Metric("R²", True, "score", "the share of the target's variance that is explained"),
}


def metric_of(name: str) -> Metric:
    """What is known of a metric; one that is unknown keeps its name and counts upward."""
    return METRICS.get(name) or Metric(name.replace("_", " "), True, "score", "a score")


VOCABULARY = frozenset(metric.label for metric in METRICS.values())
"""Names that may hold a numeral without being data."""
