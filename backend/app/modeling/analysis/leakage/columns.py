"""Columns that know the answer: too good to be true, each with its evidence."""

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from app.modeling.analysis.leakage.combinations import outcome_in_text, parts_of_target
from app.modeling.analysis.leakage.peeking import peeking
from app.modeling.labels.labels import make_labels
from app.modeling.problem.problem import Problem
from app.modeling.problem.results import Leak
from app.modeling.recipe.recipe import select_inputs
from app.modeling.recipe.transforms.columns import to_category_text
from app.modeling.table.columns import ColumnKind, column_kind
from app.modeling.table.json_values import round_significant
from app.modeling.table.numeric import to_float

NEARLY_PERFECT = {True: 0.985, False: 0.97}
"""Score of one column alone, for classes (ROC AUC) and for numbers (R2)."""

FAR_BEHIND = 0.08
"""How far the next column must be behind: in an easy table several columns are nearly perfect, and may be."""

PERFECT, HOPELESS = {True: 0.995, False: 0.99}, {True: 0.75, False: 0.5}
"""Two or three columns that all but know the answer, where every other one hardly has an idea."""

TELLING = {True: 0.93, False: 0.85}
"""Score from which a column is suspected whose name says that it is written down after the outcome."""

_OUTCOME = re.compile(
    r"outcome|results?|resol(ved|ution)|clos(ed|ing)|settle(d|ment)|refund(ed)?|cancel(l?ed|lation)|churn(ed)?"
    r"|discharged?|recover(ed|ies)|collected|payout|final|actual|after|post|death|died|approved|rejected|decision"
    r"|winner|exit|ended|reason"
)

_ID_NAME = re.compile(r"(^|_|\s)(id|index|idx|row|rownum|rowid|nr|no)$|^unnamed|Id$|ID$", re.IGNORECASE)
_YEAR_NAME = re.compile(r"year|jahr|^yr$|date|month|day", re.IGNORECASE)


def screen(frame: pd.DataFrame, problem: Problem, relations: Mapping[str, float]) -> list[Leak]:
    """Suspects among the inputs, each column once, the most certain kind first.

    Where there is a horizon the present may well be a near copy of the future: what peeks ahead is looked for.
    """
    if problem.horizon:
        return peeking(frame, problem)
    labels = make_labels(frame, problem)
    known = labels.notna()
    inputs, labels = select_inputs(frame, problem).loc[known], labels.loc[known]
    ahead = _far_ahead(relations, problem)
    found: list[Leak] = []
    for column in relations:
        leak = (
            _fills_for_one_outcome(inputs[column], labels, problem)
            or _near_copy(inputs[column], labels, problem, relations)
            or _row_order(inputs[column], relations[column], problem)
            or _nearly_perfect(column, relations, ahead, problem)
            or _named_after(column, relations, problem)
            or _in_text(inputs[column], labels, problem)
        )
        if leak:
            found.append(leak)
    named = {leak["column"] for leak in found}
    found += [leak for leak in _makes_up(inputs, labels, problem) if leak["column"] not in named]
    return sorted(found, key=lambda leak: (not leak["certain"], leak["column"]))


def looks_like_row_number(column: pd.Series) -> bool:
    """Whole numbers, all different, that rise or fall with the rows and leave few gaps: an identifier."""
    if _measures(column) or column_kind(column) is not ColumnKind.NUMBER:
        return False
    if column.isna().any() or _YEAR_NAME.search(str(column.name)):
        return False
    values = to_float(column).to_numpy()
    if len(values) < 20 or (values != np.round(values)).any() or len(np.unique(values)) < len(values):
        return False
    steps = np.diff(values)
    monotonic = bool((steps > 0).all() or (steps < 0).all())
    dense = values.max() - values.min() < 2 * len(values)
    named = bool(_ID_NAME.search(str(column.name)))
    return bool(monotonic and dense) or (named and bool(monotonic or dense))


def _measures(column: pd.Series) -> bool:
    """Whether the first values are no whole numbers, or missing."""
    first = column.to_numpy()[:20]
    return first.dtype.kind == "f" and bool((first != np.round(first)).any())


def _near_copy(
    column: pd.Series, labels: pd.Series, problem: Problem, relations: Mapping[str, float]
) -> Leak | None:
    """The target under another name: the same classes spelled another way, or a number that moves with it.

    Certain unless another column is as close: open and close of one day move together and are no copies.
    """
    if problem.is_classification:
        agreement = _agreement(column, labels)
        if agreement < 0.995:
            return None
        evidence = {"agreement": round_significant(agreement)}
        text = f"{column.name!r} says the target in other words for {agreement:.1%} of the rows."
        return _leak(column.name, "near_copy", text, True, evidence)
    if relations[str(column.name)] < 0.9 or column_kind(column) is not ColumnKind.NUMBER:
        return None
    values = to_float(column)
    both = values.notna()
    if both.sum() < 20 or values[both].nunique() < 10:
        return None
    together = abs(float(spearmanr(values[both], labels[both]).statistic))
    if together < 0.999:
        return None
    next_best = max((score for name, score in relations.items() if name != column.name), default=0.0)
    text = f"{column.name!r} orders the rows as the target does (rank correlation {together:.4f})."
    evidence = {"rank_correlation": round_significant(together)}
    return _leak(column.name, "near_copy", text, next_best < NEARLY_PERFECT[False], evidence)


def _agreement(column: pd.Series, labels: pd.Series) -> float:
    """Share of rows whose value stands for one class only, if the values are few and all classes have one."""
    if column.nunique() > 2 * labels.nunique():
        return 0.0
    text = to_category_text(column).astype(object).where(column.notna(), "(missing)")
    counts = pd.crosstab(text, labels)
    if len(set(counts.idxmax(axis=1))) < labels.nunique():
        return 0.0
    return float(counts.max(axis=1).sum() / len(labels))


def _fills_for_one_outcome(column: pd.Series, labels: pd.Series, problem: Problem) -> Leak | None:
    """Filled in for (almost) one outcome only: it is written down after the outcome."""
    filled = column.notna()
    if not 0.02 <= 1 - filled.mean() <= 0.98:
        return None
    if not problem.is_classification:
        return _fills_for_some_numbers(filled, labels)
    rates = filled.groupby(labels.astype(int)).mean()
    most, least = float(rates.max()), float(rates.min())
    if most - least < 0.8 and not (least < 0.01 and most > 0.25 and _pure(column, labels)):
        return None
    names = [str((problem.classes or ())[place]) for place in rates.index]
    evidence = {name: round_significant(float(rate)) for name, rate in zip(names, rates, strict=True)}
    text = f"{column.name!r} is filled in for {most:.0%} of the rows of one class and {least:.0%} of another."
    return _leak(column.name, "fills_for_one_outcome", text, most - least >= 0.95, {"filled": evidence})


def _fills_for_some_numbers(filled: pd.Series, labels: pd.Series) -> Leak | None:
    """That it is filled in explains most of how the target varies."""
    share = float(np.corrcoef(filled.astype("float64"), labels)[0, 1] ** 2) if labels.nunique() > 1 else 0.0
    if share < 0.8:
        return None
    text = f"Whether {filled.name!r} is filled in explains {share:.0%} of how the target varies."
    return _leak(
        filled.name, "fills_for_one_outcome", text, share >= 0.95, {"explained": round_significant(share)}
    )


def _pure(column: pd.Series, labels: pd.Series) -> bool:
    """At least 20 rows are filled in, and 98% of them are of one class."""
    classes = labels[column.notna()]
    return len(classes) >= 20 and float(classes.value_counts(normalize=True).iloc[0]) >= 0.98


def _row_order(column: pd.Series, relation: float, problem: Problem) -> Leak | None:
    """A row number that predicts: the file was sorted by the outcome, or numbers were given after it."""
    if relation < (0.75 if problem.is_classification else 0.3):
        return None
    if looks_like_row_number(column):
        text = f"{column.name!r} only numbers the rows and yet predicts the target: the file was sorted by it."
        return _leak(column.name, "row_order", text, True, {"score": relation})
    if _ID_NAME.search(str(column.name)) and column.is_unique and pd.api.types.is_integer_dtype(column.dtype):
        text = f"{column.name!r} is an identifier and yet predicts the target: it was given in that order."
        return _leak(column.name, "row_order", text, False, {"score": relation})
    return None


def _far_ahead(relations: Mapping[str, float], problem: Problem) -> dict[str, float]:
    """The columns that alone nearly know the answer -> the best score of all others, which is far behind."""
    ranked = sorted(relations, key=lambda name: -relations[name])
    scores = [relations[name] for name in ranked] + [0.5 if problem.is_classification else 0.0]
    kind = problem.is_classification
    if ranked and scores[0] >= NEARLY_PERFECT[kind] and scores[0] - scores[1] >= FAR_BEHIND:
        return {ranked[0]: scores[1]}
    for count in (2, 3):
        if count < len(ranked) and scores[count - 1] >= PERFECT[kind] and scores[count] <= HOPELESS[kind]:
            return dict.fromkeys(ranked[:count], scores[count])
    return {}


def _nearly_perfect(
    name: str, relations: Mapping[str, float], ahead: Mapping[str, float], problem: Problem
) -> Leak | None:
    if name not in ahead:
        return None
    score, others = relations[name], ahead[name]
    text = (
        f"{name!r} alone predicts the target almost perfectly ({score:.3f}, the next column"
        f" {others:.3f}): it may be known only after the outcome."
    )
    return _leak(name, "nearly_perfect", text, False, {"score": score, "next": others})


def _named_after(name: str, relations: Mapping[str, float], problem: Problem) -> Leak | None:
    """A telling column, by far the best, that is called like something known only afterwards."""
    score = relations[name]
    if score < TELLING[problem.is_classification]:
        return None
    others = max((relations[other] for other in relations if other != name), default=0.0)
    if score - others < FAR_BEHIND:
        return None
    shared = {word for word in _words(name) if _OUTCOME.fullmatch(word)} | (
        _words(name) & _words(problem.target)
    )
    if not shared:
        return None
    text = (
        f"{name!r} predicts the target far better than any other column ({score:.3f}, the next {others:.3f}),"
        f" and its name ({', '.join(sorted(shared))}) sounds like something known only after the outcome."
    )
    return _leak(name, "after_outcome", text, False, {"score": score, "next": others})


def _words(name: str) -> frozenset[str]:
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return frozenset(part.lower() for part in parts if len(part) > 2)


def _in_text(column: pd.Series, labels: pd.Series, problem: Problem) -> Leak | None:
    """Free text that holds the outcome itself."""
    if column_kind(column) is not ColumnKind.TEXT:
        return None
    found = outcome_in_text(to_category_text(column), labels, problem.is_classification)
    if found is None:
        return None
    text = f"{column.name!r} holds the outcome in its text: {found.what}."
    return _leak(column.name, "target_in_text", text, False, {"share": round_significant(found.share)})


def _makes_up(inputs: pd.DataFrame, labels: pd.Series, problem: Problem) -> list[Leak]:
    """Columns that together are the target, exactly: its parts, or its factors."""
    if problem.is_classification:
        return []
    parts = parts_of_target(inputs, labels)
    if not parts:
        return []
    names = " and ".join(repr(name) for name in parts)
    text = f"{names} together make up {problem.target!r} exactly: are they known before it is?"
    return [_leak(name, "part_of_target", text, False, {"with": list(parts)}) for name in parts]


def _leak(column: object, kind: str, text: str, certain: bool, evidence: Mapping[str, object]) -> Leak:
    return {"column": str(column), "kind": kind, "text": text, "certain": certain, "evidence": dict(evidence)}
