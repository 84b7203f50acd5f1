"""Variation of a score between periods, where the evaluated rows are of a single one: persons at a cutoff.

Its parts are no periods, since all of them are of the same time. Earlier periods are those of folds, and of the
targets before.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from app.modeling.evaluation.period_variation import (
    Past,
    Periods,
    clip_difficulty,
    difficulty,
    standard_error,
)
from app.modeling.facts.computation_facts import Interval
from app.modeling.facts.fits import CandidateFit
from app.modeling.problem.problem import Problem
from app.modeling.scoring.independent_units import IndependentUnits, UnitKind
from app.modeling.scoring.score_transforms import to_unbounded
from app.modeling.scoring.scores import SCORERS, Predicted
from app.modeling.training.training_set import TrainingSet

MIN_PERIODS = 3
"""Periods with a score from which their changes are taken: fewer have a single one."""


def find_past(train: pd.DataFrame, fit: CandidateFit, holdout: pd.DataFrame, units: IndependentUnits) -> Past:
    """Find the targets before the hold-out, and the scores of folds trained on at least half of them.

    Where the units of the hold-out are groups at few moments, the past has periods of as many moments.
    """
    problem = Problem.from_json(fit.problem)
    data = TrainingSet.from_frame(train, problem, fit.folds)
    present = np.isfinite(data.targets)
    folds = tuple(
        (score, data.targets[fold.test])
        for score, fold in zip(fit.fold_scores, data.folds, strict=False)
        # Early folds in time order train on few rows; their scores would show too wide a variation.
        if score is not None and len(fold.train) >= present.sum() / 2
    )
    periods: tuple[np.ndarray, ...] = ()
    if units.kind is UnitKind.GROUPS and problem.time_column:
        moments = pd.factorize(train[problem.time_column], sort=True)[0]
        # Counted from the end, where the hold-out begins; rows without a time have the code -1.
        numbers = (moments.max() - moments) // max(holdout[problem.time_column].nunique(), 1)
        usable = present & (moments >= 0)
        periods = tuple(
            data.targets[usable & (numbers == number)] for number in range(int(numbers[usable].max()), -1, -1)
        )
    return Past(data.targets[present], folds, periods)


def analyse_single_period(
    predicted: Predicted, problem: Problem, score: Interval, past: Past, targets: np.ndarray | None = None
) -> Periods | None:
    """Return the spread of the score of the period that follows the evaluated rows; None without its error.

    It has the chance of that period's own rows, and what the score changed from one period to the next beyond
    chance: by the scores of folds, or, of fewer than `MIN_PERIODS`, by the targets' difficulty alone.
    """
    chance = standard_error(score, problem.metric)
    if chance is None or score["value"] is None or score["low"] is None or score["high"] is None:
        return None
    truth = predicted.truth if targets is None else targets
    scores = [*(value for value, _ in past.folds), float(SCORERS[problem.metric](predicted))]
    compared = [to_unbounded(problem.metric, value) for value in scores]
    if len(compared) < MIN_PERIODS:
        compared = _difficulties([*past.periods, truth], predicted, problem)
    steps = np.diff(compared)
    steps = steps[np.isfinite(steps)]
    # Both ends of a step have the error by chance, hence twice its square.
    change = max(0.0, float(np.mean(steps**2)) - 2 * chance**2) if len(steps) else 0.0
    # A spread of few steps is itself unsure. Student's t, which would be exact, made intervals of made shops up
    # to three times as wide and held no more of their later scores.
    change *= 1 + 2 / max(len(steps), 1)
    return Periods(
        tuple(scores),
        float(np.sqrt(chance**2 + change)),
        chance,
        (score["high"] - score["low"]) / (2 * 1.96),
        1.0,
        compared=len(steps) + 1 if len(steps) else 0,
    )


def _difficulties(periods: Sequence[np.ndarray], predicted: Predicted, problem: Problem) -> list[float]:
    """List the difficulty of each period, without those of too few rows and of constants that have no score."""
    enough = [targets for targets in periods if 2 * len(targets) >= len(periods[-1])]
    overall = difficulty(periods[-1], predicted, problem)
    if len(enough) < MIN_PERIODS or not np.isfinite(overall):
        return []
    return [clip_difficulty(difficulty(targets, predicted, problem), overall) for targets in enough]
