"""A plan after a change, or the reason why words leave open which change is meant."""

from collections.abc import Sequence
from typing import NamedTuple

from app.plans.plan import Plan


class ChangedPlan(NamedTuple):
    """A plan after a change, and the change in words."""

    plan: Plan
    readings: Sequence[str]


class UnclearChange(Exception):
    """A change that cannot be made as it is worded, with the reason, which says what would do."""
