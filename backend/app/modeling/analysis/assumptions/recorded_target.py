"""The condition that predicted rows are like those whose target was recorded."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit

from app.modeling.analysis.assumptions.measurement import (
    ESTIMATOR,
    FOLDS,
    ComparedScores,
    SidePredictions,
    compare_scores,
    predict_held_out,
    predict_out_of_fold,
)
from app.modeling.analysis.assumptions.sample_size import MIN_ROWS, sample_size
from app.modeling.analysis.assumptions.wording import recorded_target_assumption
from app.modeling.facts.assumptions import AssumptionJson
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.splits.groups import find_groups
from app.modeling.splits.split import choose_kind
from app.modeling.table.sampling import sample_rows
from app.modeling.training.deadline import Deadline

MIN_UNRECORDED_SHARE = 0.05
"""Share of rows without a target from which it matters what they are like."""
MAX_WEIGHT = 5.0
"""Largest weight of a row relative to the mean: beyond it a few rows would be the whole figure."""
MAX_LOG_ODDS = 30.0
"""Bound of the log-odds that a target is missing: nearer to certainty doubles tell no chances apart."""
DRAWS = 3
"""Repetitions of the selection: each costs one fit, and more hardly narrow the interval."""
MIN_SELECTED, MAX_SELECTED = 1 / 3, 0.5
"""Shares of the recorded rows that a repetition removes: a fold's at least, so that both sides learn from as
many rows, and not so many that the rest teaches little."""
MAX_UNLIKE_CHANCE = 0.05
"""Chance of a recorded target below which a row is unlike those with one."""
SELECTORS = (ESTIMATOR, "LogisticRegression")
"""Models of the selection; the linear one goes on beyond the recorded rows, where trees stay level."""
RECORDED = "target is recorded"
"""Column of the classifier that tells recorded rows from others."""


@dataclass(frozen=True)
class RecordSelection:
    """The chances by which rows got a target.

    `log_odds` (recorded rows,): that a row like it has no target. `unlike`: share of the rows without a target
    that are unlike those with one.
    """

    log_odds: np.ndarray
    unlike: float

    @property
    def chances(self) -> np.ndarray:
        """Chances (recorded rows,) of a row to be removed where the same selection is made again.

        The odds rise by one factor for all rows, so that it is as steep as the first one. The further the rows
        without a target lie beyond the others, the more rows are removed.
        """
        share = float(np.clip(self.unlike, MIN_SELECTED, MAX_SELECTED))
        bound = 2 * MAX_LOG_ODDS
        shift = brentq(lambda shift: expit(self.log_odds + shift).mean() - share, -bound, bound)
        chances: np.ndarray = expit(self.log_odds + shift)
        return chances


def measure_recorded_target(
    train: pd.DataFrame,
    table: pd.DataFrame,
    problem: Problem,
    seed: int = 0,
    deadline: Deadline | None = None,
    threads: int = 1,
) -> AssumptionJson | None:
    """Compare the score on the training rows with that on rows like those without a target.

    On the second side the selection is made once more among the recorded rows: those most like the rows without
    a target are predicted by models of the others, and count by the odds that a row like them has none. Random
    folds would score rows beside training rows of their kind, which the rows without a target often lack. None
    if nearly all rows have a target, or there are too few rows.
    """
    unrecorded = table.loc[table[problem.target].isna()]
    # Six sides: the usual one, a selector of each kind, and the repetitions.
    rows = sample_size(train, problem, 6, deadline or Deadline(None))
    if problem.horizon or problem.time_column or min(rows, len(train), len(unrecorded)) < MIN_ROWS:
        return None
    if len(unrecorded) < MIN_UNRECORDED_SHARE * len(table):
        return None
    sample = train.iloc[sample_rows(len(train), rows, seed)].reset_index(drop=True)
    others = unrecorded.iloc[sample_rows(len(unrecorded), rows, seed)]
    selection = _model_selection(sample, others, problem, seed, threads)
    usual = predict_out_of_fold(sample, problem, FoldPlan(choose_kind(problem)[0], FOLDS, seed), threads)
    if selection is None or usual is None:
        return None
    trial = RepeatedSelection(sample, problem, selection, seed, threads)
    compared = trial.compare(usual)
    if compared is None:
        return None
    share = len(unrecorded) / len(table)
    return recorded_target_assumption(problem, compared, f"{share:.0%}", selection.unlike)


@dataclass(frozen=True)
class RepeatedSelection:
    """Repetitions of the selection among the recorded rows of a sample."""

    sample: pd.DataFrame
    problem: Problem
    selection: RecordSelection
    seed: int
    threads: int

    def compare(self, usual: SidePredictions) -> ComparedScores | None:
        """Compare out-of-fold predictions of all rows with those of the rows that repetitions remove.

        Both sides get all rows once, which count on the first alone, and then the rows of each repetition.
        """
        count, chances = len(self.sample), self.selection.chances
        rng, units = np.random.default_rng(self.seed), self._number_units()
        every = np.arange(count)
        rows, outputs, weights = [every], [usual.output], [np.zeros(count)]
        for draw in range(DRAWS):
            is_removed = rng.random(units.max() + 1)[units] < chances
            side = predict_held_out(self.sample, self.problem, is_removed, self.seed + draw, self.threads)
            if side is None:  # the rest has one class
                continue
            removed_rows = np.flatnonzero(side.tested)
            rows.append(removed_rows)
            outputs.append(side.output[removed_rows])
            # The odds make the row stand for those without a target; the chance of its removal is undone.
            weights.append(np.exp(self.selection.log_odds[removed_rows]) / chances[removed_rows])
        if len(rows) == 1:
            return None
        positions, weight = np.concatenate(rows), np.concatenate(weights)
        weight = np.minimum(weight, MAX_WEIGHT * weight[count:].mean())
        is_usual = np.arange(len(positions)) < count
        holds, otherwise = (
            SidePredictions(usual.truth[positions], output, usual.tested[positions], usual.seconds)
            for output in (usual.output[positions], np.concatenate(outputs))
        )
        return compare_scores(
            holds,
            otherwise,
            self.problem,
            units[positions],
            np.stack([is_usual.astype("float64"), weight]),
            self.seed,
        )

    def _number_units(self) -> np.ndarray:
        """Number the rows (rows,), those of one group alike: they are removed and drawn together."""
        groups = find_groups(self.sample, self.problem)
        if groups is None:
            return np.arange(len(self.sample))
        codes: np.ndarray = pd.factorize(groups)[0]
        return codes


def _model_selection(
    recorded: pd.DataFrame, others: pd.DataFrame, problem: Problem, seed: int, threads: int
) -> RecordSelection | None:
    """Model which rows have a target by the classifier that tells them apart best out of fold."""
    both = pd.concat([recorded, others], ignore_index=True).drop(columns=problem.target)
    is_recorded = np.arange(len(both)) < len(recorded)
    classifier = replace(
        problem,
        target=RECORDED,
        kind=ProblemKind.CLASSIFICATION,
        metric="log_loss",
        classes=(0, 1),
        positive_class=1,
        costs=None,
        parsers=(),
    )
    plan = FoldPlan(SplitKind.STRATIFIED, FOLDS, seed)
    frame = both.assign(**{RECORDED: is_recorded.astype(int)})
    sides = [predict_out_of_fold(frame, classifier, plan, threads, estimator=name) for name in SELECTORS]
    odds = [_to_log_odds(side.output[:, 1]) for side in sides if side is not None]
    if not odds:
        return None
    # Log loss from log-odds, which stays finite where a probability is 0 or 1.
    best = min(odds, key=lambda log_odds: np.logaddexp(0, np.where(is_recorded, log_odds, -log_odds)).mean())
    unlike = float((best[~is_recorded] > -logit(MAX_UNLIKE_CHANCE)).mean())
    return RecordSelection(best[is_recorded], unlike)


def _to_log_odds(chances: np.ndarray) -> np.ndarray:
    """Log-odds (rows,) that a target is missing, from the chances that it is recorded."""
    log_odds: np.ndarray = np.clip(-logit(chances), -MAX_LOG_ODDS, MAX_LOG_ODDS)
    return log_odds
