"""Detection of leaking columns: inputs that know the target, each with its evidence."""

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.stats import entropy, spearmanr

from app.modeling.analysis.leakage.binned_copies import EDGE, agrees_in_steps
from app.modeling.analysis.leakage.group_averages import find_group_averages
from app.modeling.analysis.leakage.hidden_targets import find_outcome_in_text, find_target_parts
from app.modeling.analysis.leakage.look_ahead import find_peeking_columns
from app.modeling.analysis.leakage.row_numbers import ROW_NUMBER_NAME, looks_like_row_number
from app.modeling.analysis.leakage.target_averages import find_target_averages
from app.modeling.facts.leaks import Leak
from app.modeling.labels.labels import make_labels
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import select_inputs
from app.modeling.recipe.transforms.columns import to_category_text
from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.table.json_values import round_significant
from app.modeling.table.numeric import to_float

NEARLY_PERFECT = {True: 0.985, False: 0.97}
"""Score of one column alone, for classes (ROC AUC) and for numbers (R2)."""

MIN_GAP = 0.08
"""Gap to the next best score: in an easy table several columns are fairly nearly perfect."""

PERFECT, WEAK = {True: 0.995, False: 0.99}, {True: 0.75, False: 0.5}
"""Scores of two or three leaking columns, and the highest score of the others beside them."""

SUSPICIOUS = {True: 0.93, False: 0.85}
"""Score from which a column is suspected if its name suggests that it is recorded after the outcome."""

EVIDENCE_OF: Mapping[tuple[str, bool], str] = {
    ("near_copy", True): "identity",
    ("part_of_target", False): "identity",
    ("target_in_text", False): "identity",
    ("row_order", True): "identity",
    ("fills_for_one_outcome", True): "time",
    ("after_outcome", False): "time",
}
"""Kind of a leak, and if it is certain -> evidence. The others predict very well, which is no evidence: an
identifier may carry information, open and close of a day move together, some classes may lack a measurement."""
MIN_STEPS_SCORE = 0.3
"""R2 of a column from which its values may stand for ranges of the target: steps of a skewed one tell little of
its few large values."""
MIN_TOLD_SHARE = 0.8
"""Share of the uncertainty about the class that gaps remove, where they tell most classes apart. A measurement
that some of many classes lack stays far below."""

_OUTCOME = re.compile(
    r"outcome|results?|resol(ved|ution)|clos(ed|ing)|settle(d|ment)|refund(ed)?|cancel(l?ed|lation)|churn(ed)?"
    r"|discharged?|recover(ed|ies)|collected|payout|final|actual|after|post|death|died|approved|rejected|decision"
    r"|winner|exit|ended|reason"
)


def find_leaks(frame: pd.DataFrame, problem: Problem, scores: Mapping[str, float]) -> list[Leak]:
    """Find suspected leaks among the inputs, each column once, the certain ones first.

    With a horizon the present value may fairly be close to the future one, so only peeking columns are
    searched.
    """
    if problem.horizon:
        return find_peeking_columns(frame, problem)
    labels = make_labels(frame, problem)
    labelled = labels.notna()
    inputs, labels = select_inputs(frame, problem).loc[labelled], labels.loc[labelled]
    outstanding = _find_outstanding(scores, problem)
    leaks: list[Leak] = []
    for column in scores:
        leak = (
            # The first that applies: evidence of time and identity says more than a mere score.
            _filled_for_one_outcome(inputs[column], labels, problem)
            or _near_copy(inputs[column], labels, problem, scores)
            or _row_order(inputs[column], scores[column], problem)
            or _nearly_perfect(column, scores, outstanding, problem)
            or _named_after(column, scores, problem)
            or _in_text(inputs[column], labels, problem)
        )
        if leak:
            leaks.append(leak)
    reported = {leak["column"] for leak in leaks}
    leaks += [leak for leak in _target_parts(inputs, labels, problem) if leak["column"] not in reported]
    reported = {leak["column"] for leak in leaks}
    averages = find_group_averages(inputs, labels, problem)
    leaks += [leak for leak in averages if leak["column"] not in reported]
    reported = {leak["column"] for leak in leaks}
    leaks += [leak for leak in find_target_averages(frame, problem) if leak["column"] not in reported]
    return sorted(leaks, key=lambda leak: (not leak["certain"], leak["column"]))


def _near_copy(
    column: pd.Series, labels: pd.Series, problem: Problem, scores: Mapping[str, float]
) -> Leak | None:
    """The target under another name: the same classes in another spelling, or a number that moves with it.

    Certain unless another column is as close: open and close of one day move together without being copies.
    """
    if problem.is_classification:
        agreement = _agreement(column, labels)
        if agreement < 0.995:
            return None
        evidence = {"agreement": round_significant(agreement)}
        text = f"{column.name!r} is another coding of the target for {agreement:.1%} of the rows."
        return _leak(column.name, "near_copy", text, True, evidence)
    if scores[str(column.name)] < MIN_STEPS_SCORE:
        return None
    if (agreement := agrees_in_steps(column, labels)) >= 1 - 2 * EDGE:
        text = f"{column.name!r} stands for ranges of the target that do not overlap ({agreement:.1%} of rows)."
        return _leak(column.name, "near_copy", text, False, {"agreement": round_significant(agreement)})
    if scores[str(column.name)] < 0.9 or column_kind(column) is not ColumnKind.NUMBER:
        return None
    values = to_float(column)
    present = values.notna()
    # Few values order few rows perfectly by chance.
    if present.sum() < 20 or values[present].nunique() < 10:
        return None
    correlation = abs(float(spearmanr(values[present], labels[present]).statistic))
    # Of ranks: a copy in another unit or on a logarithm orders the rows alike.
    if correlation < 0.999:
        return None
    next_best = max((score for name, score in scores.items() if name != column.name), default=0.0)
    text = f"{column.name!r} orders the rows as the target does (rank correlation {correlation:.4f})."
    evidence = {"rank_correlation": round_significant(correlation)}
    return _leak(column.name, "near_copy", text, next_best < NEARLY_PERFECT[False], evidence)


def _agreement(column: pd.Series, labels: pd.Series) -> float:
    """Share of rows whose value implies one class, if values are few and every class has one."""
    # A column of many values agrees with any class by having a value for each few rows.
    if column.nunique() > 2 * labels.nunique():
        return 0.0
    text = to_category_text(column).astype(object).where(column.notna(), "(missing)")
    counts = pd.crosstab(text, labels)
    # Values that all stand for the largest class agree with it by its share alone.
    if len(set(counts.idxmax(axis=1))) < labels.nunique():
        return 0.0
    return float(counts.max(axis=1).sum() / len(labels))


def _filled_for_one_outcome(column: pd.Series, labels: pd.Series, problem: Problem) -> Leak | None:
    """Filled in for (almost) one outcome only, so it is recorded after the outcome."""
    filled = column.notna()
    if not 0.02 <= 1 - filled.mean() <= 0.98:
        return None
    if not problem.is_classification:
        return _filled_by_target(filled, labels)
    rates = filled.groupby(labels.astype(int)).mean()
    highest, lowest = float(rates.max()), float(rates.min())
    # The second case: a refund date that exists for a part of the refunds, and for nothing else.
    if highest - lowest < 0.8 and not (lowest < 0.01 and highest > 0.25 and _has_one_class(column, labels)):
        return None
    names = [str((problem.classes or ())[index]) for index in rates.index]
    evidence = {name: round_significant(float(rate)) for name, rate in zip(names, rates, strict=True)}
    text = (
        f"{column.name!r} is filled in for {highest:.0%} of the rows of one class and {lowest:.0%} of another."
    )
    is_certain = highest - lowest >= 0.95 and _told_share(filled, labels) >= MIN_TOLD_SHARE
    return _leak(column.name, "fills_for_one_outcome", text, is_certain, {"filled": evidence})


def _told_share(filled: pd.Series, labels: pd.Series) -> float:
    """Share of the entropy of the classes that is gone once it is known whether the column is filled in."""
    counts = pd.crosstab(filled, labels).to_numpy(dtype="float64")
    within = sum(row.sum() / counts.sum() * entropy(row) for row in counts)
    return 1 - float(within / entropy(counts.sum(axis=0)))


def _filled_by_target(filled: pd.Series, labels: pd.Series) -> Leak | None:
    """The presence of a value explains most of the variance of the target."""
    share = float(np.corrcoef(filled.astype("float64"), labels)[0, 1] ** 2) if labels.nunique() > 1 else 0.0
    if share < 0.8:
        return None
    text = f"The presence of {filled.name!r} explains {share:.0%} of the variance of the target."
    return _leak(
        filled.name, "fills_for_one_outcome", text, share >= 0.95, {"explained": round_significant(share)}
    )


def _has_one_class(column: pd.Series, labels: pd.Series) -> bool:
    """Return true if at least 20 rows are filled in and 98% of them have one class."""
    classes = labels[column.notna()]
    return len(classes) >= 20 and float(classes.value_counts(normalize=True).iloc[0]) >= 0.98


def _row_order(column: pd.Series, relation: float, problem: Problem) -> Leak | None:
    """A row number that predicts: the file was sorted by the target, or numbers were assigned after it."""
    if relation < (0.75 if problem.is_classification else 0.3):
        return None
    if looks_like_row_number(column):
        text = f"{column.name!r} only numbers the rows but predicts the target: the file was sorted by it."
        return _leak(column.name, "row_order", text, True, {"score": relation})
    if (
        ROW_NUMBER_NAME.search(str(column.name))
        and column.is_unique
        and pd.api.types.is_integer_dtype(column.dtype)
    ):
        text = (
            f"{column.name!r} is an identifier but predicts the target: identifiers were assigned in its order."
        )
        return _leak(column.name, "row_order", text, False, {"score": relation})
    return None


def _find_outstanding(scores_by_column: Mapping[str, float], problem: Problem) -> dict[str, float]:
    """Map the columns that alone nearly know the target to the best score of the others, which is far lower."""
    ranked = sorted(scores_by_column, key=lambda name: -scores_by_column[name])
    # A single column is compared with chance.
    scores = [scores_by_column[name] for name in ranked] + [0.5 if problem.is_classification else 0.0]
    kind = problem.is_classification
    if ranked and scores[0] >= NEARLY_PERFECT[kind] and scores[0] - scores[1] >= MIN_GAP:
        return {ranked[0]: scores[1]}
    for count in (2, 3):
        if count < len(ranked) and scores[count - 1] >= PERFECT[kind] and scores[count] <= WEAK[kind]:
            return dict.fromkeys(ranked[:count], scores[count])
    return {}


def _nearly_perfect(
    name: str, scores: Mapping[str, float], outstanding: Mapping[str, float], problem: Problem
) -> Leak | None:
    if name not in outstanding:
        return None
    score, next_score = scores[name], outstanding[name]
    text = (
        f"{name!r} alone predicts the target almost perfectly ({score:.3f}, the next column"
        f" {next_score:.3f}): it may be known only after the outcome."
    )
    return _leak(name, "nearly_perfect", text, False, {"score": score, "next": next_score})


def _named_after(name: str, scores: Mapping[str, float], problem: Problem) -> Leak | None:
    """A column that predicts far better than all others and is named like something known only afterwards."""
    score = scores[name]
    if score < SUSPICIOUS[problem.is_classification]:
        return None
    next_score = max((scores[other] for other in scores if other != name), default=0.0)
    if score - next_score < MIN_GAP:
        return None
    telling_words = find_late_words(name) | (_words(name) & _words(problem.target))
    if not telling_words:
        return None
    text = (
        f"{name!r} predicts the target far better than any other column ({score:.3f}, the next"
        f" {next_score:.3f}), and its name ({', '.join(sorted(telling_words))}) sounds like something known"
        " only after the outcome."
    )
    return _leak(name, "after_outcome", text, False, {"score": score, "next": next_score})


def find_late_words(name: str) -> frozenset[str]:
    """Find the words of a column's name that sound like something known only after the outcome."""
    return frozenset(word for word in _words(name) if _OUTCOME.fullmatch(word))


def _words(name: str) -> frozenset[str]:
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    # Short words such as `id` and `no` stand in many names.
    return frozenset(part.lower() for part in parts if len(part) > 2)


def _in_text(column: pd.Series, labels: pd.Series, problem: Problem) -> Leak | None:
    """Free text that contains the outcome."""
    if column_kind(column) is not ColumnKind.TEXT:
        return None
    evidence = find_outcome_in_text(to_category_text(column), labels, problem.is_classification)
    if evidence is None:
        return None
    text = f"{column.name!r} contains the outcome in its text: {evidence.description}."
    return _leak(column.name, "target_in_text", text, False, {"share": round_significant(evidence.share)})


def _target_parts(inputs: pd.DataFrame, labels: pd.Series, problem: Problem) -> list[Leak]:
    """Columns whose sum or product is exactly the target."""
    if problem.is_classification:
        return []
    parts = find_target_parts(inputs, labels)
    if not parts:
        return []
    names = " and ".join(repr(name) for name in parts)
    text = f"{names} together give {problem.target!r} exactly: are they known before it?"
    return [_leak(name, "part_of_target", text, False, {"with": list(parts)}) for name in parts]


def _leak(column: object, kind: str, text: str, certain: bool, evidence: Mapping[str, object]) -> Leak:
    evidence_of = EVIDENCE_OF.get((kind, certain), "score")
    return {
        "column": str(column),
        "kind": kind,
        "text": text,
        "certain": certain,
        "evidence_of": evidence_of,
        "evidence": dict(evidence),
    }
