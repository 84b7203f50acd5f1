"""Columns that know the answer: too good to be true, each with its evidence."""

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from app.modeling.columns import Holds, holds
from app.modeling.labels import labels_of
from app.modeling.operations.columns import as_text
from app.modeling.operations.step import quiet_float
from app.modeling.plain import rounded
from app.modeling.problem import Problem
from app.modeling.recipe import inputs_of
from app.modeling.results import Leak

NEARLY_PERFECT = {True: 0.985, False: 0.97}
"""Score of one column alone, for classes (ROC AUC) and for numbers (R2)."""

FAR_BEHIND = 0.08
"""How far the next column must be behind: in an easy table several columns are nearly perfect, and may be."""

_ID_NAME = re.compile(r"(^|_|\s)(id|index|idx|row|rownum|rowid|nr|no)$|^unnamed|Id$|ID$", re.IGNORECASE)
_YEAR_NAME = re.compile(r"year|jahr|^yr$|date|month|day", re.IGNORECASE)


def screen(frame: pd.DataFrame, problem: Problem, relations: Mapping[str, float]) -> list[Leak]:
    """Suspects among the inputs, each column once, the most certain kind first.

    Nothing is screened where there is a horizon: the present may well be a near copy of the future.
    """
    if problem.horizon:
        return []
    labels = labels_of(frame, problem)
    known = labels.notna()
    inputs, labels = inputs_of(frame, problem).loc[known], labels.loc[known]
    found: list[Leak] = []
    for column in relations:
        leak = (
            _fills_for_one_outcome(inputs[column], labels, problem)
            or _near_copy(inputs[column], labels, problem)
            or _row_order(inputs[column], relations[column], problem)
            or _nearly_perfect(column, relations, problem)
        )
        if leak:
            found.append(leak)
    return sorted(found, key=lambda leak: (not leak["certain"], leak["column"]))


def looks_like_row_number(column: pd.Series) -> bool:
    """Whole numbers, all different, that rise or fall with the rows and leave few gaps: an identifier."""
    if holds(column) is not Holds.NUMBER or column.isna().any() or _YEAR_NAME.search(str(column.name)):
        return False
    values = quiet_float(column).to_numpy()
    if len(values) < 20 or (values != np.round(values)).any() or len(np.unique(values)) < len(values):
        return False
    steps = np.diff(values)
    monotonic = bool((steps > 0).all() or (steps < 0).all())
    dense = values.max() - values.min() < 2 * len(values)
    named = bool(_ID_NAME.search(str(column.name)))
    return bool(monotonic and dense) or (named and bool(monotonic or dense))


def _near_copy(column: pd.Series, labels: pd.Series, problem: Problem) -> Leak | None:
    """The target under another name: the same classes spelled another way, or a number that moves with it."""
    if problem.is_classification:
        agreement = _agreement(column, labels)
        if agreement < 0.995:
            return None
        evidence = {"agreement": rounded(agreement)}
        text = f"{column.name!r} says the target in other words for {agreement:.1%} of the rows."
    else:
        values = quiet_float(column)
        both = values.notna()
        if holds(column) is not Holds.NUMBER or both.sum() < 20 or values[both].nunique() < 10:
            return None
        together = abs(float(spearmanr(values[both], labels[both]).statistic))
        if together < 0.999:
            return None
        evidence = {"rank_correlation": rounded(together)}
        text = f"{column.name!r} orders the rows as the target does (rank correlation {together:.4f})."
    return _leak(column.name, "near_copy", text, True, evidence)


def _agreement(column: pd.Series, labels: pd.Series) -> float:
    """Share of rows whose value stands for one class only, if the values are few and all classes have one."""
    if column.nunique() > 2 * labels.nunique():
        return 0.0
    text = as_text(column).astype(object).where(column.notna(), "(missing)")
    counts = pd.crosstab(text, labels)
    if len(set(counts.idxmax(axis=1))) < labels.nunique():
        return 0.0
    return float(counts.max(axis=1).sum() / len(labels))


def _fills_for_one_outcome(column: pd.Series, labels: pd.Series, problem: Problem) -> Leak | None:
    """Filled in for (almost) one class only: it is written down after the outcome."""
    if not problem.is_classification or not 0.02 <= column.isna().mean() <= 0.98:
        return None
    filled = column.notna().groupby(labels.astype(int)).mean()
    most, least = float(filled.max()), float(filled.min())
    if most - least < 0.8 and not (least < 0.01 and most > 0.25 and _pure(column, labels)):
        return None
    names = [str((problem.classes or ())[place]) for place in filled.index]
    rates = {name: rounded(float(rate)) for name, rate in zip(names, filled, strict=True)}
    text = f"{column.name!r} is filled in for {most:.0%} of the rows of one class and {least:.0%} of another."
    return _leak(column.name, "fills_for_one_outcome", text, most - least >= 0.95, {"filled": rates})


def _pure(column: pd.Series, labels: pd.Series) -> bool:
    """At least 20 rows are filled in, and 98% of them are of one class."""
    classes = labels[column.notna()]
    return len(classes) >= 20 and float(classes.value_counts(normalize=True).iloc[0]) >= 0.98


def _row_order(column: pd.Series, relation: float, problem: Problem) -> Leak | None:
    """A row number that predicts: the file was sorted by the outcome."""
    if relation < (0.75 if problem.is_classification else 0.3) or not looks_like_row_number(column):
        return None
    text = f"{column.name!r} only numbers the rows and yet predicts the target: the file was sorted by it."
    return _leak(column.name, "row_order", text, True, {"score": relation})


def _nearly_perfect(name: str, relations: Mapping[str, float], problem: Problem) -> Leak | None:
    score = relations[name]
    others = [relations[other] for other in relations if other != name]
    best_other = max(others, default=0.5 if problem.is_classification else 0.0)
    if score < NEARLY_PERFECT[problem.is_classification] or score - best_other < FAR_BEHIND:
        return None
    text = (
        f"{name!r} alone predicts the target almost perfectly ({score:.3f}, the next column"
        f" {best_other:.3f}): it may be known only after the outcome."
    )
    return _leak(name, "nearly_perfect", text, False, {"score": score, "next": best_other})


def _leak(column: object, kind: str, text: str, certain: bool, evidence: Mapping[str, object]) -> Leak:
    return {"column": str(column), "kind": kind, "text": text, "certain": certain, "evidence": dict(evidence)}
