"""Predictions that one column of the rows gives without a model: a duration, or the value of the last time."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from app.modeling.facts.computation_facts import ColumnReference
from app.modeling.labels.labels import make_labels
from app.modeling.problem.problem import Problem
from app.modeling.scoring.scores import Predicted
from app.modeling.scoring.thresholds import choose_threshold, threshold_aim


def predict_by_columns(
    train: pd.DataFrame, holdout: pd.DataFrame, problem: Problem, references: Sequence[ColumnReference]
) -> dict[str, Predicted]:
    """Predict the labelled rows of the hold-out by each reference, as a name -> its predictions.

    A number is predicted as the column's own value, a class by the probability that training rows give it by
    this column alone. References whose column has no number in some row are left out.
    """
    predict = _predict_classes if problem.is_classification else _predict_numbers
    predictions = {
        reference["name"]: predict(train, holdout, problem, reference["column"])
        for reference in references
        if reference["column"] in train and reference["column"] in holdout
    }
    return {name: predicted for name, predicted in predictions.items() if predicted is not None}


def _predict_numbers(
    _train: pd.DataFrame, holdout: pd.DataFrame, problem: Problem, column: str
) -> Predicted | None:
    labels = make_labels(holdout, problem).to_numpy()
    values = _numbers(holdout, column)
    if not np.isfinite(values).all():
        return None
    labelled = ~np.isnan(labels)
    return Predicted.from_problem(problem, labels[labelled], values[labelled])


def _predict_classes(
    train: pd.DataFrame, holdout: pd.DataFrame, problem: Problem, column: str
) -> Predicted | None:
    train_labels, labels = (make_labels(rows, problem).to_numpy() for rows in (train, holdout))
    train_values, values = (_numbers(rows, column) for rows in (train, holdout))
    learned, labelled = ~np.isnan(train_labels), ~np.isnan(labels)
    classes = np.unique(train_labels[learned])
    if len(classes) != len(problem.classes or ()) or not np.isfinite([*train_values, *values]).all():
        return None
    # Durations and counts are skewed: a logarithm that zeros have, too. Ranks stay those of the column itself.
    train_inputs, inputs = np.arcsinh(train_values[learned, None]), np.arcsinh(values[labelled, None])
    rule = LogisticRegression(C=1e6).fit(train_inputs, train_labels[learned].astype(int))
    threshold = None
    if problem.is_binary:
        fitted = Predicted.from_problem(problem, train_labels[learned], rule.predict_proba(train_inputs))
        threshold = choose_threshold(fitted, threshold_aim(problem), problem.costs)["value"]
    return Predicted.from_problem(problem, labels[labelled], rule.predict_proba(inputs), threshold)


def _numbers(rows: pd.DataFrame, column: str) -> np.ndarray:
    return pd.to_numeric(rows[column], errors="coerce").to_numpy(dtype="float64")
