"""Seconds that chat models think: they have an allowance of their own, and are no time for fits."""

from dataclasses import dataclass

MIN_ALLOWANCE_S = 120.0
"""Seconds of thinking that do not count as working time, however short the budget: some 20 answers of 6 s."""


@dataclass
class ThinkingTime:
    """Seconds of thinking in a session: those of earlier steps, and of the present one.

    The present ones are those of recorded answers, so a replay counts them alike.
    """

    earlier_s: float = 0.0
    present_s: float = 0.0
    allowance_s: float = MIN_ALLOWANCE_S

    @property
    def total_s(self) -> float:
        return self.earlier_s + self.present_s

    @property
    def is_used_up(self) -> bool:
        return self.total_s >= self.allowance_s

    def working_s(self, elapsed_s: float) -> float:
        """Return the elapsed seconds of the session without its thinking, as far as the allowance goes."""
        # Beyond its allowance thinking counts as work: a slow model cannot extend a session without end.
        return max(0.0, elapsed_s - min(self.total_s, self.allowance_s))


def thinking_allowance_s(time_budget_s: float) -> float:
    """Return the seconds that chat models may think besides a time budget: as long again, if it is long."""
    return max(MIN_ALLOWANCE_S, time_budget_s)
