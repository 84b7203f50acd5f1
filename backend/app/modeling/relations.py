"""How well each column alone predicts the target, measured out of fold."""

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from app.errors import InvalidInput
from app.modeling.columns import Holds, holds
from app.modeling.encode import as_number
from app.modeling.labels import labels_of
from app.modeling.operations.columns import as_text
from app.modeling.plain import rounded
from app.modeling.problem import Problem
from app.modeling.recipe import inputs_of
from app.modeling.scores import SCORES, Predicted
from app.modeling.split import Fold, FoldPlan, choose_kind, folds

MOST_ROWS = 20_000
FEWEST_ROWS = 1_000
WIDE = 300
"""With more columns than this one fold must do."""
MOST_CELLS = 2_000_000
"""Rows times columns that are looked at, so that a wide table takes seconds too."""


def relations(frame: pd.DataFrame, problem: Problem, seed: int = 0) -> dict[str, float]:
    """Column -> score of a small tree on it alone: ROC AUC (0.5 is chance) or R2 (below 0 is given as 0)."""
    sampled = _sample(frame, problem, seed)
    labels = labels_of(sampled, problem)
    inputs = inputs_of(sampled, problem)
    try:
        made = folds(sampled, problem, FoldPlan(choose_kind(problem)[0], 3, seed))
    except InvalidInput:
        return {}
    if inputs.shape[1] > WIDE:
        made = made[-1:]
    found = {}
    for name in inputs.columns:
        if name in (problem.time_column, problem.group_column) or holds(inputs[name]) is Holds.EMPTY:
            continue
        found[str(name)] = _alone(inputs[name], labels.to_numpy(), problem, made, seed)
    return found


def _sample(frame: pd.DataFrame, problem: Problem, seed: int) -> pd.DataFrame:
    """The latest rows where time orders them, else some at random, in the order of the file."""
    most = int(np.clip(MOST_CELLS // max(frame.shape[1], 1), FEWEST_ROWS, MOST_ROWS))
    if len(frame) <= most:
        return frame
    return frame.tail(most) if problem.time_column else frame.sample(most, random_state=seed).sort_index()


def _alone(column: pd.Series, truth: np.ndarray, problem: Problem, made: list[Fold], seed: int) -> float:
    scores = []
    for fold in made:
        values = _numbers(column, truth, fold.train)
        leaf = max(5, len(fold.train) // 100)
        options = {"max_leaf_nodes": 16, "min_samples_leaf": leaf, "random_state": seed}
        y, asked = truth[fold.train], values[fold.test]
        if problem.is_classification:
            tree = DecisionTreeClassifier(**options).fit(values[fold.train], y.astype(int))
            output = np.zeros((len(fold.test), len(problem.classes or ())))
            output[:, tree.classes_] = tree.predict_proba(asked)
            metric = "roc_auc"
        else:
            output = DecisionTreeRegressor(**options).fit(values[fold.train], y).predict(asked)
            metric = "r2"
        scores.append(SCORES[metric].compute(Predicted(truth[fold.test], output, problem.positive_index)))
    known = [score for score in scores if np.isfinite(score)]
    chance = 0.5 if problem.is_classification else 0.0
    return rounded(max(float(np.mean(known)) if known else chance, 0.0), 4) or 0.0


def _numbers(column: pd.Series, truth: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Numbers as they are; a category as the mean label of its training rows."""
    if holds(column) in (Holds.NUMBER, Holds.BOOLEAN, Holds.DATETIME):
        return as_number(column).reshape(-1, 1)
    text = as_text(column).astype(object).where(column.notna(), "(missing)")
    known = pd.Series(truth[train], index=text.index[train])
    sums = known.groupby(text.iloc[train].to_numpy()).agg(["sum", "count"])
    prior = float(known.mean())
    means = (sums["sum"] + 5 * prior) / (sums["count"] + 5)
    return text.map(means).fillna(prior).to_numpy(dtype="float64").reshape(-1, 1)
