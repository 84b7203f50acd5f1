"""Data of evaluation figures: curves, confusion matrices, calibration bins and residuals."""

from typing import Any

import numpy as np
from sklearn import metrics

from app.modeling.facts.computation_facts import Curve
from app.modeling.problem.problem import Problem
from app.modeling.scoring.scores import Predicted
from app.modeling.table.json_values import round_significant

MAX_POINTS = 200
"""Points of one curve: more cannot be seen in a figure."""


def _thin(x: np.ndarray, y: np.ndarray) -> Curve:
    if len(x) > MAX_POINTS:
        positions = np.unique(np.linspace(0, len(x) - 1, MAX_POINTS).astype(int))
        x, y = x[positions], y[positions]
    return {"x": [round(float(v), 5) for v in x], "y": [round(float(v), 5) for v in y]}


def roc_curve(predicted: Predicted) -> Curve | None:
    """x: false positive rate, y: true positive rate."""
    if len(np.unique(predicted.truth)) < 2:
        return None
    false_rate, true_rate, _ = metrics.roc_curve(predicted.is_positive, predicted.positive_share)
    return _thin(false_rate, true_rate)


def precision_recall_curve(predicted: Predicted) -> Curve | None:
    """x: recall, y: precision."""
    if not predicted.is_positive.any():
        return None
    precision, recall, _ = metrics.precision_recall_curve(predicted.is_positive, predicted.positive_share)
    # scikit-learn returns recall falling; a figure is drawn with x rising.
    return _thin(recall[::-1], precision[::-1])


def confusion(predicted: Predicted, problem: Problem) -> dict[str, Any]:
    """Confusion matrix: rows are the truth, columns the predicted class."""
    positions = list(range(len(problem.classes or ())))
    counts = metrics.confusion_matrix(predicted.truth.astype(int), predicted.choice, labels=positions)
    return {"labels": [str(name) for name in problem.classes or ()], "counts": counts.tolist()}


def per_class(predicted: Predicted, problem: Problem) -> list[dict[str, Any]]:
    """Precision, recall, F1 and rows of every class."""
    table = []
    choice = predicted.choice
    for position, name in enumerate(problem.classes or ()):
        is_predicted, is_true = choice == position, predicted.truth == position
        true_positives = int((is_predicted & is_true).sum())
        precision = true_positives / is_predicted.sum() if is_predicted.any() else 0.0
        recall = true_positives / is_true.sum() if is_true.any() else None
        f1 = (
            2 * true_positives / (is_predicted.sum() + is_true.sum())
            if is_predicted.any() or is_true.any()
            else 0.0
        )
        table.append(
            {
                "class": name,
                "precision": round_significant(precision),
                "recall": None if recall is None else round_significant(recall),
                "f1": round_significant(f1),
                "rows": int(is_true.sum()),
            }
        )
    return table


def calibration(predicted: Predicted, bins: int = 10) -> dict[str, Any]:
    """Predicted against observed shares in bins of equal size, and their mean distance weighted by rows."""
    order = np.argsort(predicted.positive_share, kind="stable")
    bins_of_rows = [rows for rows in np.array_split(order, min(bins, max(2, len(order) // 20))) if len(rows)]
    table = [
        {
            "predicted": round_significant(float(predicted.positive_share[rows].mean())),
            "observed": round_significant(float(predicted.is_positive[rows].mean())),
            "count": len(rows),
        }
        for rows in bins_of_rows
    ]
    distance = sum(
        abs(float(predicted.positive_share[rows].mean() - predicted.is_positive[rows].mean())) * len(rows)
        for rows in bins_of_rows
    )
    return {"bins": table, "error": round_significant(distance / len(order))}


def residuals(predicted: Predicted, seed: int = 0) -> dict[str, Any]:
    """Errors (prediction minus truth): quantiles, a histogram, and up to 200 rows to draw."""
    error = predicted.output - predicted.truth
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(len(error))[:MAX_POINTS])
    low, high = float(error.min()), float(error.max())
    is_constant = high - low <= 1e-9 * max(abs(low), abs(high), 1e-300)  # too little spread for bins
    bins = 1 if is_constant else min(30, max(5, len(error) // 10))
    counts, edges = np.histogram(
        error, bins=bins, range=(low - 0.5, high + 0.5) if is_constant else (low, high)
    )
    quantiles = {str(q): round_significant(float(np.quantile(error, q))) for q in (0.05, 0.25, 0.5, 0.75, 0.95)}
    return {
        "points": [
            {
                "truth": round_significant(float(predicted.truth[row])),
                "prediction": round_significant(float(predicted.output[row])),
            }
            for row in rows
        ],
        "quantiles": quantiles,
        "histogram": {"edges": [round_significant(float(edge)) for edge in edges], "counts": counts.tolist()},
    }
