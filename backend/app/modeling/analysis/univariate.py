"""How well each column alone predicts the target, measured out of fold."""

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from app.errors import InvalidInput
from app.modeling.estimators.encoding.codes import to_finite_number
from app.modeling.labels.labels import make_labels
from app.modeling.labels.split import Fold, FoldPlan, choose_kind, folds
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import select_inputs
from app.modeling.recipe.transforms.columns import to_category_text
from app.modeling.scoring.scores import SCORERS, Predicted
from app.modeling.table.columns import ColumnKind, column_kind
from app.modeling.table.json_values import round_significant

MAX_ROWS = 20_000
MIN_ROWS = 1_000
WIDE = 300
"""With more columns than this all are judged by steps of equal size first, and the best by a tree again."""
BEST, STEPS = 60, 12
MAX_CELLS = 2_000_000
"""Rows times columns that are looked at, so that a wide table takes seconds too."""


def relations(frame: pd.DataFrame, problem: Problem, seed: int = 0) -> dict[str, float]:
    """Column -> score of a small tree on it alone: ROC AUC (0.5 is chance) or R2 (below 0 is given as 0)."""
    sampled = _sample(frame, problem, seed)
    labels = make_labels(sampled, problem)
    inputs = select_inputs(sampled, problem)
    try:
        made = folds(sampled, problem, FoldPlan(choose_kind(problem)[0], 3, seed))
    except InvalidInput:
        return {}
    asked = [
        str(name)
        for name in inputs.columns
        if name not in (problem.time_column, problem.group_column)
        and column_kind(inputs[name]) is not ColumnKind.EMPTY
    ]
    truth = labels.to_numpy()
    if len(asked) <= WIDE:
        return {name: _alone(inputs[name], truth, problem, made, seed) for name in asked}
    found = {name: _alone(inputs[name], truth, problem, made[-1:], None) for name in asked}
    for name in sorted(found, key=lambda name: -found[name])[:BEST]:
        found[name] = _alone(inputs[name], truth, problem, made, seed)
    return found


def _sample(frame: pd.DataFrame, problem: Problem, seed: int) -> pd.DataFrame:
    """The latest rows where time orders them, else some at random, in the order of the file."""
    most = int(np.clip(MAX_CELLS // max(frame.shape[1], 1), MIN_ROWS, MAX_ROWS))
    if len(frame) <= most:
        return frame
    return frame.tail(most) if problem.time_column else frame.sample(most, random_state=seed).sort_index()


def _alone(column: pd.Series, truth: np.ndarray, problem: Problem, made: list[Fold], seed: int | None) -> float:
    """By a small tree, or without a seed by steps of equal size."""
    scores = []
    for fold in made:
        values = _numbers(column, truth, fold.train)
        known, asked, y = values[fold.train], values[fold.test], truth[fold.train]
        if seed is None:
            output = _by_steps(known, y, asked, len(problem.classes or ()))
        else:
            output = _by_tree(known, y, asked, len(problem.classes or ()), seed)
        metric = "roc_auc" if problem.is_classification else "r2"
        scores.append(SCORERS[metric](Predicted(truth[fold.test], output, problem.positive_index)))
    finite = [score for score in scores if np.isfinite(score)]
    chance = 0.5 if problem.is_classification else 0.0
    return round_significant(max(float(np.mean(finite)) if finite else chance, 0.0), 4) or 0.0


def _by_tree(known: np.ndarray, y: np.ndarray, asked: np.ndarray, classes: int, seed: int) -> np.ndarray:
    leaf = max(5, len(known) // 100)
    options = {"max_leaf_nodes": 16, "min_samples_leaf": leaf, "random_state": seed}
    said: np.ndarray
    if not classes:
        said = DecisionTreeRegressor(**options).fit(known[:, None], y).predict(asked[:, None])
        return said
    tree = DecisionTreeClassifier(**options).fit(known[:, None], y.astype(int))
    said = np.zeros((len(asked), classes))
    said[:, tree.classes_] = tree.predict_proba(asked[:, None])
    return said


def _by_steps(known: np.ndarray, y: np.ndarray, asked: np.ndarray, classes: int) -> np.ndarray:
    """Mean label, or shares of classes, of the training rows in the same step of values; gaps are a step."""
    present = np.sort(known[~np.isnan(known)])
    edges = np.unique(present[len(present) * np.arange(1, STEPS) // STEPS]) if len(present) else present
    own, of_asked = (
        np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values)) for values in (known, asked)
    )
    rows = np.bincount(own, minlength=len(edges) + 2)
    labels = np.eye(classes)[y.astype(int)] if classes else y[:, None]
    sums = np.column_stack([np.bincount(own, weights=each, minlength=len(rows)) for each in labels.T])
    means = (sums + labels.mean(axis=0)) / (rows + 1)[:, None]
    said: np.ndarray = means[of_asked] if classes else means[of_asked, 0]
    return said


def _numbers(column: pd.Series, truth: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Numbers as they are (rows,); a category as the mean label of its training rows."""
    if column_kind(column) in (ColumnKind.NUMBER, ColumnKind.BOOLEAN, ColumnKind.DATETIME):
        return to_finite_number(column)
    text = to_category_text(column).astype(object).where(column.notna(), "(missing)")
    known = pd.Series(truth[train], index=text.index[train])
    sums = known.groupby(text.iloc[train].to_numpy()).agg(["sum", "count"])
    prior = float(known.mean())
    means = (sums["sum"] + 5 * prior) / (sums["count"] + 5)
    return text.map(means).fillna(prior).to_numpy(dtype="float64")
