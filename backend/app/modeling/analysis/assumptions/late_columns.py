"""Columns that may be known too late: the score with them and without, alone and with their like."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from app.modeling.analysis.assumptions.measurement import (
    FOLDS,
    ComparedScores,
    SidePredictions,
    compare_scores,
    number_units,
    predict_out_of_fold,
)
from app.modeling.analysis.assumptions.sample_size import MIN_ROWS, sample_size
from app.modeling.analysis.assumptions.wording import column_assumption
from app.modeling.analysis.leakage.leaking_columns import find_late_words
from app.modeling.analysis.leakage.row_numbers import looks_like_row_number
from app.modeling.facts.assumptions import AssumptionJson, AssumptionSide
from app.modeling.facts.leaks import Leak
from app.modeling.labels.labels import make_labels
from app.modeling.problem.folds import FoldPlan
from app.modeling.problem.problem import Problem
from app.modeling.scoring.scores import SCORERS
from app.modeling.splits.split import choose_kind
from app.modeling.table.sampling import sample_rows
from app.modeling.training.deadline import Deadline

NEARLY_PERFECT = {True: 0.98, False: 0.95}
"""Score of all columns (ROC AUC of classes, R2 of numbers) from which the columns that carry it are doubted."""
MIN_LOSS = {True: 0.04, False: 0.15}
"""Loss of that score without the columns that carry it: in an easy table the others tell the target as well."""
MIN_SCORE_ALONE = {True: 0.9, False: 0.7}
"""Score of a column alone from which it can be one of those that carry a nearly perfect score."""
MIN_NAMED_SCORE = {True: 0.6, False: 0.1}
"""Score of a column alone from which its name is reason enough to measure what it brings."""
MAX_CARRIERS = 3
"""Columns that may hide each other: each further one costs a cross-validation."""
MAX_SUSPECTS = 6
"""Suspected columns that are measured; the first ones are the most certain."""
COMBINED = "the target from its parts"
"""Input that stands for the parts of a target, whose sum or product boosting finds only slowly."""


@dataclass(frozen=True)
class Suspect:
    """Columns that may be known too late, or that the user left out.

    `is_left_out`: without a user's answer. `makes_target`: whether the columns together are the target.
    `may_inform`: whether they are an input all the same where they bring more than chance. `is_named_only`: the
    name is the only evidence, and the columns are a condition only where they matter.
    """

    columns: tuple[str, ...]
    reason: str
    is_left_out: bool
    makes_target: bool = False
    may_inform: bool = False
    is_named_only: bool = False


def measure_columns(
    frame: pd.DataFrame,
    problem: Problem,
    scores: Mapping[str, float],
    leaks: Sequence[Leak],
    seed: int = 0,
    deadline: Deadline | None = None,
    threads: int = 1,
    identifiers: Sequence[str] = (),
) -> list[AssumptionJson]:
    """Measure what each suspected column brings, and search the columns that carry a nearly perfect score.

    `scores`: of each column alone, see `univariate`. `deadline`: without it, counts bound the time.
    `identifiers`: columns that are no input unless they bring something.
    """
    suspects, deadline = _suspects_of(leaks)[:MAX_SUSPECTS], deadline or Deadline(None)
    suspects += _suspect_identifiers(frame, identifiers)
    # Named ones last: they are the weakest evidence, and those before are not suspected twice.
    suspects += _suspect_names(scores, problem, suspects)
    excluded = [name for name in problem.exclude if name in frame.columns]
    if excluded and not problem.horizon:
        suspects.append(Suspect(tuple(excluded), "left out on request", is_left_out=True))
    ranked = [
        name
        for name in sorted(scores, key=lambda name: -scores[name])
        if scores[name] >= MIN_SCORE_ALONE[problem.is_classification]
    ]
    if not suspects and not ranked:
        return []
    rows = sample_size(frame, problem, 1 + len(suspects) + bool(ranked), deadline)
    # Inputs of a forecast are those of an earlier row, so none of them is known too late.
    if problem.horizon or min(rows, len(frame)) < MIN_ROWS:
        return []
    positions = sample_rows(len(frame), rows, seed)
    sample = frame.iloc[positions].reset_index(drop=True)
    trial = ColumnTrial(sample, problem, seed, threads, deadline)
    left_out = {name for suspect in suspects if suspect.is_left_out for name in suspect.columns}
    # One side serves all suspects: each costs a single further cross-validation.
    usual = trial.predict(left_out)
    if usual is None:
        return []
    # First, since a score that one column carries is the condition that matters most.
    carriers = _find_carriers(trial, usual, left_out, [name for name in ranked if name not in left_out])
    assumptions = []
    for suspect in suspects:
        with_side: SidePredictions | None = usual
        if suspect.is_left_out:
            with_side = trial.predict(left_out - set(suspect.columns), suspect.makes_target)
        without = usual if suspect.is_left_out else trial.predict(left_out | set(suspect.columns))
        compared = trial.compare(with_side, without)
        if compared and (compared.matters or not suspect.is_named_only):
            assumptions.append(_to_assumption(suspect, compared, problem))
    if carriers is None:
        return assumptions
    if any(entry["columns"] == list(carriers[0].columns) for entry in assumptions):
        return assumptions
    # One column of several that carry the score is hidden by the others: only their joint figure is right.
    visible = [entry for entry in assumptions if not set(entry["columns"]) <= set(carriers[0].columns)]
    return [*visible, _to_assumption(*carriers, problem)]


@dataclass(frozen=True)
class ColumnTrial:
    """Cross-validations of one sample of rows, each without some columns."""

    sample: pd.DataFrame
    problem: Problem
    seed: int
    threads: int
    deadline: Deadline

    def predict(self, left_out: set[str], has_combined: bool = False) -> SidePredictions | None:
        """Predict without some columns; None if time is up, or if no column would be left.

        `has_combined`: whether the columns make the target, which a column of its own then stands for.
        """
        required = {self.problem.target, self.problem.time_column, self.problem.group_column}
        if self.deadline.is_over or not set(self.sample.columns) - left_out - required:
            return None
        labels = make_labels(self.sample, self.problem)
        if labels.nunique() < 2:
            return None
        plan = FoldPlan(choose_kind(self.problem)[0], FOLDS, self.seed)
        problem = replace(self.problem, exclude=tuple(sorted(left_out)))
        sample = self.sample.assign(**{COMBINED: labels}) if has_combined else self.sample
        return predict_out_of_fold(sample, problem, plan, self.threads)

    def compare(
        self, with_side: SidePredictions | None, without: SidePredictions | None
    ) -> ComparedScores | None:
        if with_side is None or without is None:
            return None
        units = number_units(self.sample, self.problem, with_side.tested)
        return compare_scores(with_side, without, self.problem, units, seed=self.seed)

    def skill(self, side: SidePredictions) -> float:
        """ROC AUC of classes, R2 of numbers."""
        rows = np.flatnonzero(side.tested)
        metric = "roc_auc" if self.problem.is_classification else "r2"
        return float(SCORERS[metric](side.take(rows, self.problem)))


def _suspects_of(leaks: Sequence[Leak]) -> list[Suspect]:
    """Suspected columns with their evidence; those that make up the target together are one suspect."""
    suspects, parts = [], [leak for leak in leaks if leak["kind"] == "part_of_target"]
    for leak in leaks:
        if leak not in parts:
            suspects.append(Suspect((leak["column"],), leak["text"], is_left_out_by_default(leak)))
    if parts:
        names = tuple(leak["column"] for leak in parts)
        suspects.append(Suspect(names, parts[0]["text"], is_left_out=True, makes_target=True))
    return suspects


def _suspect_identifiers(frame: pd.DataFrame, names: Sequence[str]) -> list[Suspect]:
    """Suspect identifiers, apart from numbers in the order of the file, which tell nothing but that order."""
    counters = tuple(name for name in names if looks_like_row_number(frame[name]))
    others = tuple(name for name in names if name not in counters)
    suspects = []
    if counters:
        suspects.append(Suspect(counters, "The rows are only numbered", is_left_out=True))
    if others:
        suspects.append(Suspect(others, "Each row has a value of its own", is_left_out=True, may_inform=True))
    return suspects


def _suspect_names(scores: Mapping[str, float], problem: Problem, suspects: Sequence[Suspect]) -> list[Suspect]:
    """Suspect the columns, all together, whose names sound like something known only after the outcome."""
    doubted = {name for suspect in suspects for name in suspect.columns} | set(problem.exclude)
    min_score = MIN_NAMED_SCORE[problem.is_classification]
    words = {
        name: find_late_words(name) for name in scores if name not in doubted and scores[name] >= min_score
    }
    names = tuple(name for name, late in words.items() if late)
    if not names:
        return []
    examples = ", ".join(sorted(frozenset().union(*(words[name] for name in names))))
    reason = f"The name ({examples}) sounds like something known only after the outcome"
    return [Suspect(names, reason, is_left_out=False, is_named_only=True)]


def is_left_out_by_default(leak: Leak) -> bool:
    """Return true for evidence of identity or of time; a score alone is no reason to leave a column out."""
    return leak["certain"] or leak.get("evidence_of") in ("identity", "time")


def _find_carriers(
    trial: ColumnTrial,
    usual: SidePredictions,
    left_out: set[str],
    ranked: Sequence[str],
) -> tuple[Suspect, ComparedScores] | None:
    """Find the few columns that carry a nearly perfect score; one alone may not be missed beside the others.

    `ranked`: columns that tell much alone, the best first.
    """
    is_classification = trial.problem.is_classification
    skill = trial.skill(usual)
    if skill < NEARLY_PERFECT[is_classification]:
        return None
    for count in range(1, min(MAX_CARRIERS, len(ranked)) + 1):
        columns = tuple(ranked[:count])
        without = trial.predict(left_out | set(columns))
        if without is None:
            return None
        # Not missed alone: the next best column may hide it, so both are left out together.
        if skill - trial.skill(without) < MIN_LOSS[is_classification]:
            continue
        compared = trial.compare(usual, without)
        source = "it" if count == 1 else "them"
        suspect = Suspect(columns, f"Nearly all of the score comes from {source}", is_left_out=False)
        return None if compared is None else (suspect, compared)
    return None


def _to_assumption(suspect: Suspect, compared: ComparedScores, problem: Problem) -> AssumptionJson:
    is_informative = suspect.may_inform and compared.difference_bounds[0] > 0
    is_left_out = suspect.is_left_out and not is_informative
    side = AssumptionSide.OTHERWISE if is_left_out else AssumptionSide.HOLDS
    return column_assumption(suspect.columns, suspect.reason, compared, problem, side)
