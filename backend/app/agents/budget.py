"""How a session's time is shared out: what is left for fits once the end is provided for."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.agents.size import Size, size_of
from app.agents.state import LabState

DEFAULT_BUDGET_S = 60.0
ENDING_S = 0.8
"""What the last choice, the last evaluation and the report take on any table, beside what is measured."""
OPENED = 1.7
"""The models that a blend opens are opened once more to be evaluated, and then there are more of them."""
DRAWN, READ = 0.7, 0.3
REPORT_S = 0.6
REFIT, MAX_REFIT = 1.3, 0.2
"""A fit on all rows beside one on the rows of a fold; and the most of the whole budget for such fits."""
SAFETY = 1.15
MAX_ENDING = 0.45
"""Of the whole budget: a usable model comes before a generous end."""
FIRST_SHARE = 0.4
"""Of the time for fits, for one fold of every family; where a fit takes long, one fold is all there is."""
FIRST_FITS = 3
ROUNDS_WORTH = 24
"""Fits of the least time that must have room for more than one round to be worth its start."""
MAX_ROUNDS = 60
COUNTED_ROUND_S = 15.0
"""Of its time budget, for each round of a deterministic session."""
UNLIMITED_S = 3600.0
"""What a deterministic session takes the time that is left for: it counts rounds."""


@dataclass(frozen=True)
class Budget:
    """`worked_s`: of `total_s`, at the start of the step. `ending_s`: kept back for after the last fit."""

    total_s: float
    worked_s: float
    ending_s: float
    deterministic: bool
    report_s: float = REPORT_S

    @property
    def until_report_s(self) -> float:
        """The working time at which the report must be begun."""
        return self.total_s - self.report_s

    @property
    def until_s(self) -> float:
        """The working time at which the last fit must be in."""
        return self.total_s - self.ending_s

    @property
    def for_fits_s(self) -> float:
        return UNLIMITED_S if self.deterministic else max(0.0, self.until_s - self.worked_s)

    @property
    def rounds(self) -> int:
        """How many rounds may follow the first: a deterministic session counts them instead of seconds."""
        return int(self.total_s / COUNTED_ROUND_S) if self.deterministic else MAX_ROUNDS

    def for_first_round_s(self, size: Size, hands: int) -> float:
        """At least what two fits need: a session that has used up its time still gets a model."""
        whole = max(self.for_fits_s, FIRST_FITS * size.least_s / hands)
        return whole if whole * hands < ROUNDS_WORTH * size.least_s else FIRST_SHARE * whole


def budget_of(state: LabState) -> Budget:
    preferences = state.get("preferences", {})
    total_s = float(preferences.get("time_budget_s") or DEFAULT_BUDGET_S)
    took = state.get("took", {})
    return Budget(
        total_s=total_s,
        worked_s=float(state.get("worked_s", 0.0)),
        ending_s=min(ending_s(took) + min(refit_s(state), MAX_REFIT * total_s), MAX_ENDING * total_s),
        deterministic=bool(preferences.get("deterministic")),
        report_s=max(REPORT_S, 0.3 * took.get("data_analysis", 0.0)),
    )


def refit_s(state: LabState) -> float:
    """What it takes that the candidates with weight learn once more, from all rows, one after the other.

    In time order the latest rows matter most, so time is kept for it before anything was fitted.
    """
    split = state.get("split", {})
    if not state.get("fits") and split.get("kind") == "time":
        return FIRST_FITS * REFIT * size_of(state).least_s
    weights = state.get("weights", {})
    weighty = [fit for fit in state.get("fits", ()) if weights.get(fit["name"], 0.0) > 0]
    return sum(REFIT * float(fit["fit_s"]) / max(len(fit["run"]), 1) for fit in weighty)


def ending_s(took: Mapping[str, float]) -> float:
    """What the end will take, going by what like work took here and now.

    The last evaluation draws and judges as the analysis does, on a fifth of the rows that the split read and
    wrote; the model is blended and compared as it was after the last round.
    """
    return SAFETY * (
        ENDING_S
        + DRAWN * took.get("data_analysis", 1.5)
        + READ * took.get("split", 0.5)
        + OPENED * took.get("model_evaluation", 0.5)
    )
