"""Notes on the scores of new rows, as sentences."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.counts import describe_count
from app.modeling.evaluation.period_variation import Periods
from app.modeling.facts.computation_facts import CoverageJson, Interval
from app.modeling.facts.fits import CandidateFit
from app.modeling.problem.folds import SplitKind
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.scoring.independent_units import IndependentUnits, UnitKind
from app.modeling.scoring.perfect_scores import unseen_error_share
from app.modeling.scoring.prediction_intervals import misses_level
from app.modeling.scoring.scores import Predicted

ROUGH_ROWS = 100
"""Rows below which every figure is rough: a share is then known to 10 points at best."""
ROUGH_UNITS = 6
"""Groups below which every figure is rough, however many rows they have."""

SQUARED_METRICS = frozenset({"rmse", "r2"})
"""Metrics that count squared errors."""
MAX_LARGEST_SHARE = 0.01
"""Share of the rows that have half of the squared error, up to which the largest errors decide the score.
Normal errors have it in 12 % of the rows, those of Student's t with 3 degrees of freedom in 4 %, and amounts
with a Pareto tail, whose RMSE on other rows was 1.5 times the upper bound of the interval, in 0.4 %."""

MUCH_VARIED = 1.5
"""Ratio of the target's variation in the past to that in these rows which is worth a mention."""


@dataclass(frozen=True)
class Agreement:
    """A score on new rows and the cross-validated one, with their standard errors."""

    score: float
    expected: float
    score_error: float
    expected_error: float

    @property
    def agrees(self) -> bool:
        return abs(self.score - self.expected) <= 1.96 * float(np.hypot(self.score_error, self.expected_error))


def compare_with_cv(score: Interval, fit: CandidateFit, rows: int) -> Agreement | None:
    """Compare a score on `rows` new rows with the cross-validated one; None if a score or its error is unknown.

    Folds share training rows, so their variance is corrected (Nadeau and Bengio 2003). A single fold has the
    error of the new rows, by the ratio of their numbers.
    """
    value, low, high, expected = score["value"], score["low"], score["high"], fit.score
    if value is None or low is None or high is None or expected is None:
        return None
    scores = [score for score in fit.fold_scores if score is not None]
    count = len(scores)
    error = (high - low) / (2 * 1.96)
    if count > 1:
        spread = float(np.std(scores, ddof=1)) * np.sqrt(1 / count + 1 / (count - 1))
    elif fit.rows and fit.folds.count:
        # In time order the first of the blocks trains only.
        fold_rows = fit.rows / (fit.folds.count + (fit.folds.kind is SplitKind.TIME))
        spread = error * np.sqrt(rows / fold_rows)
    else:
        return None
    return Agreement(value, expected, error, float(spread))


def score_notes(
    predicted: Predicted,
    problem: Problem,
    metrics: Mapping[str, Interval],
    difference: Interval,
    agreement: Agreement | None,
    periods: Periods | None,
    interval_coverage: CoverageJson | None,
    units: IndependentUnits,
) -> list[str]:
    """List the cautions about the scores, as sentences. `units`: those of the rows."""
    notes = [
        _perfection(predicted, problem, units.count),
        _baseline(difference),
        _agreement(agreement, problem),
        _worsening(periods, problem),
        _variation(periods, metrics[problem.metric], problem),
        _coverage(interval_coverage),
        f"Only {len(predicted.truth)} rows were evaluated, so every figure here is rough."
        if len(predicted.truth) < ROUGH_ROWS
        else None,
        _few_units(units, problem, periods),
        _large_errors(predicted, problem),
    ]
    return [note for note in notes if note]


def _large_errors(predicted: Predicted, problem: Problem) -> str | None:
    """Say that few errors are half of the squared error: resamples of these rows hold no larger ones."""
    rows = len(predicted.truth)
    if problem.is_classification or problem.metric not in SQUARED_METRICS or rows < ROUGH_ROWS:
        return None
    squares = np.sort((predicted.output - predicted.truth) ** 2)[::-1]
    largest = int(np.searchsorted(np.cumsum(squares), squares.sum() / 2)) + 1
    if not squares.any() or largest > MAX_LARGEST_SHARE * rows:
        return None
    subject = "One error is" if largest == 1 else f"The {largest} largest errors are"
    return (
        f"{subject} half of the squared error of {rows:,} rows: other rows may have larger ones, and an"
        f" {METRICS[problem.metric].label} far above its interval. The MAE depends on them less."
    )


def _few_units(units: IndependentUnits, problem: Problem, periods: Periods | None) -> str | None:
    """Say that no other group or time was seen, or only few."""
    if periods is not None and periods.compared:
        names = " and ".join(map(repr, problem.group_columns))
        metric = METRICS[problem.metric].label
        return (
            f"The interval of the {metric} is that of the next {problem.time_column!r}: it holds by how much"
            f" {periods.compared} of them differed. It rests on the next period being like these. Intervals of"
            f" other metrics say how much scores of other {names} at the same {problem.time_column!r} differ."
        )
    if units.kind is UnitKind.GROUPS and problem.time_column:
        # See `find_units`: of so few moments no interval tells how much scores of others differ.
        names = " and ".join(map(repr, problem.group_columns))
        return (
            f"Intervals say how much scores of other {names} at the same {problem.time_column!r} differ. How"
            " much they differ from time to time, these rows are of too few times to tell."
        )
    if units.kind not in (UnitKind.GROUPS, UnitKind.BLOCKS) or not 0 < units.count < ROUGH_UNITS:
        return None
    if units.kind is UnitKind.GROUPS:
        names = " and ".join(map(repr, problem.group_columns))
        if units.count == 1:
            return (
                f"All of these rows have the same {names}: no interval tells how much scores of others differ."
            )
        return f"These rows are of {units.count} groups by {names} only, so every figure here is rough."
    if units.count > 1:
        return None
    return (
        f"Labels look {describe_count(problem.horizon or 0, 'row')} ahead, so that those of these rows overlap:"
        " they count as one observation, and scores have no interval."
    )


def _perfection(predicted: Predicted, problem: Problem, unit_count: int) -> str | None:
    """Say what a hold-out without any error can show."""
    outcome = predicted.choice if problem.is_classification else predicted.output
    rows = len(predicted.truth)
    if not rows or not np.array_equal(outcome, predicted.truth):
        return None
    # Rows of one entity are right or wrong together: as many errors as entities could be seen.
    share = unseen_error_share(min(unit_count, rows))
    return (
        f"None of these {rows:,} rows is predicted wrong. That many can miss an error that up to {share:.2g} of"
        " all rows have, by the bound of Clopper and Pearson."
    )


def _baseline(difference: Interval) -> str | None:
    value, low, high = difference["value"], difference["low"], difference["high"]
    if low is not None and low > 0:
        return None
    if high is not None and high < 0:
        return "It is worse than the naive baseline on these rows."
    if value is not None and low is None:
        return "These rows cannot show whether it beats the naive baseline."
    return "It does not beat the naive baseline beyond chance on these rows."


def _agreement(agreement: Agreement | None, problem: Problem) -> str | None:
    if agreement is None or agreement.agrees:
        return None
    better = (agreement.score > agreement.expected) == METRICS[problem.metric].greater_is_better
    name = METRICS[problem.metric].label
    sentence = (
        f"The {name} here ({agreement.score:.4g}, standard error {agreement.score_error:.2g}) is"
        f" {'better' if better else 'worse'} than in cross-validation ({agreement.expected:.4g}, standard error"
        f" {agreement.expected_error:.2g}) beyond chance."
    )
    if better:
        return sentence
    cause = (
        "conditions have changed" if problem.time_column else "something in training does not hold for new rows"
    )
    return f"{sentence} Expect the score found here: {cause}."


def _worsening(periods: Periods | None, problem: Problem) -> str | None:
    if periods is None or not periods.worsens(METRICS[problem.metric].greater_is_better):
        return None
    first, last = periods.scores[0], periods.scores[-1]
    parts = "first quarter of these rows" if periods.compared is None else "first period that was judged"
    return (
        f"The {METRICS[problem.metric].label} worsens with time: {first:.4g} in the {parts}, {last:.4g} in the"
        " last. Expect this to continue, and retrain on newer rows."
    )


def _variation(periods: Periods | None, score: Interval, problem: Problem) -> str | None:
    if periods is None or not periods.moves:
        return None
    sentence = f"Between periods the {METRICS[problem.metric].label} varies more than chance explains"
    if periods.varied >= MUCH_VARIED:
        sentence += (
            f", and {problem.target!r} has varied up to {periods.varied:.1f} times as much as in these rows"
        )
    return f"{sentence}: on future rows expect it between {score['low']:.4g} and {score['high']:.4g}."


def _coverage(interval_coverage: CoverageJson | None) -> str | None:
    if interval_coverage is None:
        return None
    share, level = interval_coverage["coverage"], interval_coverage["level"]
    value = share["value"]
    if value is None or not misses_level(share, level):
        return None
    narrow = value < level
    return (
        f"The {level:.0%} prediction intervals contain {value:.1%} of these rows: they are too"
        f" {'narrow' if narrow else 'wide'}."
    )
