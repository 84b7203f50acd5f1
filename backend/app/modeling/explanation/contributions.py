"""Feature contributions of tree models: exact SHAP values, computed by the boosting libraries."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd

from app.modeling.explanation.explanation_facts import ContributionFacts
from app.modeling.problem.problem import Problem
from app.modeling.table.json_values import round_significant
from app.modeling.training.deadline import Deadline

MAX_ROWS = 400
"""Rows whose values are drawn and averaged: more do not change the picture."""
FIRST_ROWS, BATCH_ROWS = 5, 50
"""Rows of the first call, which measures the time, and of later ones."""
MIN_ROWS = 25
"""Averages over fewer rows are mostly chance."""
MAX_FEATURES = 12
"""Features in the report, the largest ones."""


class Additive(Protocol):
    """A tree model that can decompose its predictions."""

    def contributions(self, X: Any) -> np.ndarray:
        """(rows, features + 1), the constant last, of a number or of the second of two classes in log-odds;
        (rows, classes, features + 1) where there are more classes."""


@dataclass(frozen=True)
class TreeMember:
    """A tree model inside a stored one.

    `matrix`: its features of some rows, an array or a frame; `names` and `ordered`: for each feature, its name
    and whether its order has a meaning (a category's code has none). `on_log`: it was trained on the logarithm
    of the target.
    """

    name: str
    model: Additive
    matrix: Any
    names: Sequence[str]
    ordered: Sequence[bool]
    on_log: bool = False


@dataclass(frozen=True)
class Contributions:
    """SHAP values: `values[row, k]` is the contribution of the k-th of `facts["features"]` to the
    prediction; `numbers` is the feature's value, nan if it is missing or only a code."""

    facts: ContributionFacts
    values: np.ndarray
    numbers: np.ndarray


def explain_contributions(
    member: TreeMember, problem: Problem, truth: np.ndarray, seed: int = 0, deadline: Deadline | None = None
) -> Contributions | None:
    """SHAP values of up to 400 rows, fewer where the deadline asks; None where it has no time for enough.

    A classifier's are of the positive class, or of the most frequent one in `truth` where there are more.
    """
    class_index = _explained_class(problem, truth)
    deadline = deadline or Deadline(None)
    # Permuted, so that the rows that the deadline leaves are a random sample at any time.
    order = np.random.default_rng(seed).permutation(len(member.matrix))[:MAX_ROWS]
    batches: list[np.ndarray] = []
    parts: list[np.ndarray] = []
    done = 0
    while done < len(order):
        batch_rows = BATCH_ROWS if done else FIRST_ROWS
        if done and deadline.limit_s is not None:
            batch_rows = min(batch_rows, int(deadline.left_s / max(deadline.spent_s / done, 1e-9)))
        if batch_rows < 1:
            break
        batches.append(order[done : done + batch_rows])
        parts.append(_of_class(member.model.contributions(_select(member.matrix, batches[-1])), class_index))
        done += len(batches[-1])
    if done < min(MIN_ROWS, len(order)):
        return None
    of_class = None if class_index is None else str((problem.classes or ())[class_index])
    return _rank_features(
        member, of_class, np.concatenate(parts), np.asarray(_select(member.matrix, np.concatenate(batches)))
    )


def _select(matrix: Any, positions: np.ndarray) -> Any:
    return matrix.iloc[positions] if isinstance(matrix, pd.DataFrame) else matrix[positions]


def _explained_class(problem: Problem, truth: np.ndarray) -> int | None:
    if not problem.is_classification:
        return None
    return problem.positive_index if problem.is_binary else int(np.bincount(truth.astype(int)).argmax())


def _of_class(values: np.ndarray, class_index: int | None) -> np.ndarray:
    """Contributions to one class, without the constant; those to the first of two classes are the negated
    ones."""
    if values.ndim == 3:
        return np.asarray(values[:, class_index, :-1])
    return np.asarray(-values[:, :-1] if class_index == 0 else values[:, :-1])


def _rank_features(
    member: TreeMember, of_class: str | None, values: np.ndarray, matrix: np.ndarray
) -> Contributions:
    size = np.abs(values).mean(axis=0)
    largest = [int(column) for column in np.argsort(-size, kind="stable")[:MAX_FEATURES] if size[column] > 0]
    # The place of a category is a code: a direction along it would mean nothing.
    ordered = np.array([bool(member.ordered[column]) for column in largest])
    numbers = np.where(ordered, matrix[:, largest].astype("float64"), np.nan)
    features = [
        {
            "feature": str(member.names[column]),
            "mean": round_significant(float(size[column])) or 0.0,
            "direction": _direction(numbers[:, rank], values[:, column]),
        }
        for rank, column in enumerate(largest)
    ]
    facts: ContributionFacts = {
        "member": member.name,
        "of_class": of_class,
        "unit": "log_target" if member.on_log else "target" if of_class is None else "log_odds",
        "rows": len(values),
        "features": features,
        "left_out": int((size > 0).sum()) - len(largest),
    }
    return Contributions(facts, values[:, largest], numbers)


def _direction(numbers: np.ndarray, values: np.ndarray) -> float | None:
    present = ~np.isnan(numbers)
    if present.sum() < 3 or np.ptp(numbers[present]) == 0 or np.ptp(values[present]) == 0:
        return None
    # By ranks, since contributions of trees rise in steps and not in a line.
    ranks = pd.DataFrame({"number": numbers[present], "adds": values[present]}).rank()
    return round_significant(float(ranks["number"].corr(ranks["adds"])), 3)
