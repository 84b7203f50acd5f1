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
    "mcc": Metric("Matthews correlation", True, "score", "the correlation of truth and choice"),
    "cohen_kappa": Metric("Cohen's kappa", True, "score", "the agreement of truth and choice beyond chance"),
    "top_3_accuracy": Metric(
        "top three accuracy", True, "score", "the share of rows whose class is among the three likeliest"
    ),
    "cost": Metric("cost per row", False, "score", "the mean cost of the mistakes, as the user priced them"),
    "rmsle": Metric("RMSLE", False, "score", "the root of the mean squared error of the logarithms"),
    "smape": Metric(
        "SMAPE", False, "percent", "the absolute error as a share of the mean of prediction and actual value"
    ),
    "poisson_deviance": Metric("Poisson deviance", False, "score", "how badly predicted rates fit the counts"),
    **{
        f"pinball_{level}": Metric(
            f"pinball loss {level}%",
            False,
            "quantity",
            "the error of a predicted quantile, in the target's units",
        )
        for level in ("05", "10", "25", "50", "75", "90", "95")
    },
}


def metric_of(name: str) -> Metric:
    """What is known of a metric; one that is unknown keeps its name and counts upward."""
    return METRICS.get(name) or Metric(name.replace("_", " "), True, "score", "a score")


VOCABULARY = frozenset(metric.label for metric in METRICS.values())
"""Names that may hold a numeral without being data."""
