"""What each feature adds to a tree model's answers: exact SHAP values, by the boosting libraries themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd

from app.modeling.explanation.facts import ContributionFacts
from app.modeling.explanation.subject import Deadline
from app.modeling.problem.problem import Problem
from app.modeling.table.json_values import round_significant

MAX_ROWS = 400
FIRST_ROWS, ROWS_AT_A_TIME = 5, 50
MIN_ROWS = 25
"""What fewer rows say on the average is chance."""
MAX_FEATURES = 12


class Additive(Protocol):
    """A tree model that can take its answers apart."""

    def contributions(self, X: Any) -> np.ndarray:
        """(rows, features + 1), the constant last, of a number or of the second of two classes in log-odds;
        (rows, classes, features + 1) where there are more classes."""


@dataclass(frozen=True)
class TreeMember:
    """A tree model inside a stored one. `matrix`: its features of some rows, an array or a frame; `names` and
    `ordered`: of each feature, its name and whether more of it means something (a category's code does not).
    `on_log`: it learned the logarithm of its target."""

    name: str
    model: Additive
    matrix: Any
    names: Sequence[str]
    ordered: Sequence[bool]
    on_log: bool = False


@dataclass(frozen=True)
class Contributions:
    """`values[row, place]` is what the feature at that place of `facts["features"]` adds to the answer;
    `numbers` is the feature itself there, nan where it is missing or only a code."""

    facts: ContributionFacts
    values: np.ndarray
    numbers: np.ndarray


def contributions(
    member: TreeMember, problem: Problem, truth: np.ndarray, seed: int = 0, deadline: Deadline | None = None
) -> Contributions | None:
    """SHAP values of up to 400 rows, fewer where the deadline asks; None where it has no time for enough.

    A classifier's are of the positive class, or of the most frequent one in `truth` where there are more.
    """
    place = _told_class(problem, truth)
    deadline = deadline or Deadline(None)
    order = np.random.default_rng(seed).permutation(len(member.matrix))[:MAX_ROWS]
    asked: list[np.ndarray] = []
    parts: list[np.ndarray] = []
    done = 0
    while done < len(order):
        room = ROWS_AT_A_TIME if done else FIRST_ROWS
        if done and deadline.limit_s is not None:
            room = min(room, int(deadline.left_s / max(deadline.spent_s / done, 1e-9)))
        if room < 1:
            break
        asked.append(order[done : done + room])
        parts.append(_of_class(member.model.contributions(_rows(member.matrix, asked[-1])), place))
        done += len(asked[-1])
    if done < min(MIN_ROWS, len(order)):
        return None
    of_class = None if place is None else str((problem.classes or ())[place])
    return _ranked(
        member, of_class, np.concatenate(parts), np.asarray(_rows(member.matrix, np.concatenate(asked)))
    )


def _rows(matrix: Any, places: np.ndarray) -> Any:
    return matrix.iloc[places] if isinstance(matrix, pd.DataFrame) else matrix[places]


def _told_class(problem: Problem, truth: np.ndarray) -> int | None:
    if not problem.is_classification:
        return None
    return problem.positive_index if problem.is_binary else int(np.bincount(truth.astype(int)).argmax())


def _of_class(values: np.ndarray, place: int | None) -> np.ndarray:
    """Without the constant. The values of the first of two classes are those of the second negated."""
    if values.ndim == 3:
        return np.asarray(values[:, place, :-1])
    return np.asarray(-values[:, :-1] if place == 0 else values[:, :-1])


def _ranked(member: TreeMember, of_class: str | None, values: np.ndarray, matrix: np.ndarray) -> Contributions:
    size = np.abs(values).mean(axis=0)
    first = [int(place) for place in np.argsort(-size, kind="stable")[:MAX_FEATURES] if size[place] > 0]
    ordered = np.array([bool(member.ordered[place]) for place in first])
    numbers = np.where(ordered, matrix[:, first].astype("float64"), np.nan)
    features = [
        {
            "feature": str(member.names[place]),
            "mean": round_significant(float(size[place])) or 0.0,
            "direction": _direction(numbers[:, rank], values[:, place]),
        }
        for rank, place in enumerate(first)
    ]
    facts: ContributionFacts = {
        "member": member.name,
        "of_class": of_class,
        "unit": "log_target" if member.on_log else "target" if of_class is None else "log_odds",
        "rows": len(values),
        "features": features,
        "left_out": int((size > 0).sum()) - len(first),
    }
    return Contributions(facts, values[:, first], numbers)


def _direction(numbers: np.ndarray, values: np.ndarray) -> float | None:
    known = ~np.isnan(numbers)
    if known.sum() < 3 or np.ptp(numbers[known]) == 0 or np.ptp(values[known]) == 0:
        return None
    ranks = pd.DataFrame({"number": numbers[known], "adds": values[known]}).rank()
    return round_significant(float(ranks["number"].corr(ranks["adds"])), 3)
