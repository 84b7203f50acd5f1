"""Univariate scores: how well each column alone predicts the target, measured out of fold."""

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from app.errors import InvalidInput
from app.modeling.estimators.encoding.codes import to_finite_number
from app.modeling.labels.labels import make_labels
from app.modeling.problem.folds import FoldPlan
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import select_inputs
from app.modeling.recipe.transforms.columns import to_category_text
from app.modeling.scoring.scores import SCORERS, Predicted
from app.modeling.splits.split import Fold, choose_kind, make_folds
from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.table.json_values import round_significant
from app.modeling.training.deadline import Deadline

MAX_ROWS = 20_000
"""Rows that are sampled: more take longer, and refine a score that only ranks columns."""
MIN_ROWS = 1_000
"""Rows that are sampled, whatever the number of columns: fewer make the scores too rough."""
WIDE_COLUMNS = 300
"""With more columns all are scored by quantile bins on one fold first, and the best again by a tree."""
BEST_COLUMNS, BINS = 60, 12
"""Columns of a wide table that are scored by a tree, and quantile bins of the first pass."""
MAX_CELLS = 2_000_000
"""Rows times columns that are sampled, so that a wide table takes seconds too."""


def score_columns(
    frame: pd.DataFrame, problem: Problem, seed: int = 0, deadline: Deadline | None = None
) -> dict[str, float]:
    """Score a small tree on each column alone: ROC AUC (0.5 is chance) or R2 (negative values become 0).

    Columns that the deadline leaves no time for have no score.
    """
    deadline = deadline or Deadline(None)
    sampled = _sample(frame, problem, seed)
    labels = make_labels(sampled, problem)
    inputs = select_inputs(sampled, problem)
    try:
        folds = make_folds(sampled, problem, FoldPlan(choose_kind(problem)[0], 3, seed))
    except InvalidInput:
        return {}
    columns = [
        str(name)
        for name in inputs.columns
        if name not in (problem.time_column, problem.group_column)
        and column_kind(inputs[name]) is not ColumnKind.EMPTY
    ]
    truth = labels.to_numpy()
    if len(columns) <= WIDE_COLUMNS:
        return {
            name: _score_column(inputs[name], truth, problem, folds, seed)
            for name in columns
            if not deadline.is_over
        }
    scores = {
        name: _score_column(inputs[name], truth, problem, folds[-1:], None)
        for name in columns
        if not deadline.is_over
    }
    for name in sorted(scores, key=lambda name: -scores[name])[:BEST_COLUMNS]:
        if deadline.is_over:
            break
        scores[name] = _score_column(inputs[name], truth, problem, folds, seed)
    return scores


def _sample(frame: pd.DataFrame, problem: Problem, seed: int) -> pd.DataFrame:
    """The latest rows if time orders them, otherwise random ones in the order of the file."""
    max_rows = int(np.clip(MAX_CELLS // max(frame.shape[1], 1), MIN_ROWS, MAX_ROWS))
    if len(frame) <= max_rows:
        return frame
    return (
        frame.tail(max_rows) if problem.time_column else frame.sample(max_rows, random_state=seed).sort_index()
    )


def _score_column(
    column: pd.Series, truth: np.ndarray, problem: Problem, folds: list[Fold], seed: int | None
) -> float:
    """Score a column by a small tree, or by quantile bins without a seed."""
    scores = []
    for fold in folds:
        values = _numbers(column, truth, fold.train)
        train_values, test_values, y = values[fold.train], values[fold.test], truth[fold.train]
        if seed is None:
            output = _predict_by_bins(train_values, y, test_values, len(problem.classes or ()))
        else:
            output = _predict_by_tree(train_values, y, test_values, len(problem.classes or ()), seed)
        metric = "roc_auc" if problem.is_classification else "r2"
        scores.append(SCORERS[metric](Predicted(truth[fold.test], output, problem.positive_index)))
    finite = [score for score in scores if np.isfinite(score)]
    chance = 0.5 if problem.is_classification else 0.0
    return round_significant(max(float(np.mean(finite)) if finite else chance, 0.0), 4) or 0.0


def _predict_by_tree(
    train_values: np.ndarray, y: np.ndarray, test_values: np.ndarray, classes: int, seed: int
) -> np.ndarray:
    # Leaves of 1 % of the rows, so that a tree on one column cannot learn single rows.
    leaf = max(5, len(train_values) // 100)
    options = {"max_leaf_nodes": 16, "min_samples_leaf": leaf, "random_state": seed}
    predictions: np.ndarray
    if not classes:
        predictions = (
            DecisionTreeRegressor(**options).fit(train_values[:, None], y).predict(test_values[:, None])
        )
        return predictions
    tree = DecisionTreeClassifier(**options).fit(train_values[:, None], y.astype(int))
    predictions = np.zeros((len(test_values), classes))
    predictions[:, tree.classes_] = tree.predict_proba(test_values[:, None])
    return predictions


def _predict_by_bins(
    train_values: np.ndarray, y: np.ndarray, test_values: np.ndarray, classes: int
) -> np.ndarray:
    """Mean label, or class shares, of the training rows in the same quantile bin; missing values have their
    own bin."""
    present = np.sort(train_values[~np.isnan(train_values)])
    edges = np.unique(present[len(present) * np.arange(1, BINS) // BINS]) if len(present) else present
    train_bins, test_bins = (
        np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values))
        for values in (train_values, test_values)
    )
    rows = np.bincount(train_bins, minlength=len(edges) + 2)
    labels = np.eye(classes)[y.astype(int)] if classes else y[:, None]
    sums = np.column_stack(
        [np.bincount(train_bins, weights=weights, minlength=len(rows)) for weights in labels.T]
    )
    # One row of the overall mean, since a bin may be empty in training.
    means = (sums + labels.mean(axis=0)) / (rows + 1)[:, None]
    predictions: np.ndarray = means[test_bins] if classes else means[test_bins, 0]
    return predictions


def _numbers(column: pd.Series, truth: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Numbers as they are (rows,); a category as the mean label of its training rows."""
    if column_kind(column) in (ColumnKind.NUMBER, ColumnKind.BOOLEAN, ColumnKind.DATETIME):
        return to_finite_number(column)
    # A gap is a category of its own: that a value is missing may give the target away.
    text = to_category_text(column).astype(object).where(column.notna(), "(missing)")
    train_labels = pd.Series(truth[train], index=text.index[train])
    sums = train_labels.groupby(text.iloc[train].to_numpy()).agg(["sum", "count"])
    prior = float(train_labels.mean())
    # Five rows of the overall mean steady rare categories. Of several classes it is the mean of their numbers.
    means = (sums["sum"] + 5 * prior) / (sums["count"] + 5)
    return text.map(means).fillna(prior).to_numpy(dtype="float64")
