"""The time budget of a session: seconds for fits, and seconds reserved for evaluation, refit and report."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.agents.frame_size import FrameSize, measure_frame
from app.agents.state import SessionState
from app.modeling.problem.folds import SplitKind
from app.tools.context.preferences import DEFAULT_BUDGET_S

ENDING_BASE_S = 0.8
"""Fixed cost of the final choice, evaluation and report, in addition to the measured shares below."""
ENSEMBLE_LOADING_RATIO = 1.7
"""Final evaluation relative to one model evaluation: the ensemble's members, by then more, are loaded again."""
PLOTTING_RATIO = 0.7
"""Plots and statistics of the final evaluation, relative to the data analysis."""
HOLDOUT_READING_RATIO = 0.3
"""Reading the hold-out (a fifth of the rows), relative to the split, which reads and writes all rows."""
ANALYSIS_REPORT_RATIO = 0.3
"""Writing the report relative to the data analysis: both draw figures of all columns."""
MIN_REPORT_S = 0.6
"""Time to write the report of a small table."""
REFIT_RATIO = 1.3
"""A fit on all rows relative to a fit on the training rows of one fold (five folds: 5/4, and reading)."""
KNOWN_ENTITIES_RATIO = 2.0
"""Fits for rows of known entities relative to those for new ones: each is fitted on a fold and on all rows."""
MAX_REFIT_SHARE = 0.2
"""Share of the total budget that is reserved for the refit on all rows."""
SAFETY_FACTOR = 1.15
"""Applied to all reserved times: the estimates come from one earlier measurement each."""
DRIVERS_SHARE = 0.15
"""Share of the total budget that is reserved in addition where the goal asks for the drivers of its target."""
MAX_ENDING_SHARE = 0.45
"""Share of the total budget. A usable model has priority over a detailed final evaluation."""
FIRST_ROUND_SHARE = 0.4
"""Share of the fit time for one fold of every family. Later rounds use the rest."""
MIN_FIRST_ROUND_FITS = 3
"""Minimal fits that the first round has time for: the baseline, a linear model and one of trees."""
MIN_FITS_FOR_ROUNDS = 24
"""The fit time is divided into rounds only if it has room for this many minimal fits."""
MAX_ROUNDS = 60
"""Upper bound against endless tuning. Long sessions end by time before that."""
SECONDS_PER_ROUND = 15.0
"""Seconds of the time budget that one round of a deterministic session stands for."""
DETERMINISTIC_FIT_TIME_S = 3600.0
"""Fit time of a deterministic session, which counts rounds: long enough that no fit is limited by it."""


@dataclass(frozen=True)
class Budget:
    """Seconds of a session: `worked_s` of `total_s` are used at the start of the step, `ending_s` are reserved
    for the time after the last fit, `reporting_s` of these for the report."""

    total_s: float
    worked_s: float
    ending_s: float
    deterministic: bool
    reporting_s: float = MIN_REPORT_S

    @property
    def report_deadline_s(self) -> float:
        """The working time at which the report must start."""
        return self.total_s - self.reporting_s

    @property
    def fits_deadline_s(self) -> float:
        """The working time at which the last fit must be finished."""
        return self.total_s - self.ending_s

    @property
    def fit_time_s(self) -> float:
        return (
            DETERMINISTIC_FIT_TIME_S if self.deterministic else max(0.0, self.fits_deadline_s - self.worked_s)
        )

    @property
    def max_rounds(self) -> int:
        """The number of rounds after the first. A deterministic session counts rounds instead of seconds."""
        return int(self.total_s / SECONDS_PER_ROUND) if self.deterministic else MAX_ROUNDS

    def first_round_s(self, size: FrameSize, fit_slots: int) -> float:
        """Seconds for the first round, never less than a few minimal fits need: a session that has used up its
        time still gets a model."""
        fit_time_s = max(self.fit_time_s, MIN_FIRST_ROUND_FITS * size.min_fit_s / fit_slots)
        return (
            fit_time_s
            if fit_time_s * fit_slots < MIN_FITS_FOR_ROUNDS * size.min_fit_s
            else FIRST_ROUND_SHARE * fit_time_s
        )


def make_budget(state: SessionState) -> Budget:
    preferences = state.training_preferences
    total_s = preferences.time_budget_s or DEFAULT_BUDGET_S
    return Budget(
        total_s=total_s,
        worked_s=state.worked_s,
        ending_s=min(
            estimate_ending_s(state.node_seconds)
            + min(estimate_refit_s(state), MAX_REFIT_SHARE * total_s)
            + (DRIVERS_SHARE * total_s if state.plan.wants_drivers else 0.0),
            MAX_ENDING_SHARE * total_s,
        ),
        deterministic=bool(preferences.deterministic),
        reporting_s=max(MIN_REPORT_S, ANALYSIS_REPORT_RATIO * state.node_seconds.get("data_analysis", 0.0)),
    )


def estimate_refit_s(state: SessionState) -> float:
    """Estimate the seconds to refit the weighted candidates on all rows, one after the other.

    With time order the latest rows matter most, so time is reserved even before the first fit, and later for a
    candidate that is as slow as the slowest one so far: it may be chosen yet.
    """
    split = state.locked_split
    is_in_time = split is not None and split.kind is SplitKind.TIME
    if not state.fits and is_in_time:
        return MIN_FIRST_ROUND_FITS * REFIT_RATIO * measure_frame(state).min_fit_s
    weighted_fits = [fit for fit in state.fits if state.weights.get(fit.name, 0.0) > 0]
    is_grouped = split is not None and split.kind is SplitKind.GROUPED
    ratio = REFIT_RATIO * (1 + KNOWN_ENTITIES_RATIO * is_grouped)
    slowest_s = max((fit.seconds_per_fold for fit in state.fits), default=0.0) if is_in_time else 0.0
    return max(sum(ratio * fit.seconds_per_fold for fit in weighted_fits), REFIT_RATIO * slowest_s)


def estimate_ending_s(node_seconds: Mapping[str, float]) -> float:
    """Estimate the seconds after the last fit from the measured times of similar nodes of this session.

    The final evaluation plots and scores like the data analysis, reads a fifth of the rows that the split read,
    and loads and compares the models like the last model evaluation.
    """
    return SAFETY_FACTOR * (
        ENDING_BASE_S
        + PLOTTING_RATIO * node_seconds.get("data_analysis", 1.5)
        + HOLDOUT_READING_RATIO * node_seconds.get("split", 0.5)
        + ENSEMBLE_LOADING_RATIO * node_seconds.get("model_evaluation", 0.5)
    )
