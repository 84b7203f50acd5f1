"""Totals of a session's usage over its steps and agents."""

from collections.abc import Iterable, Sequence

from app.sessions.schemas import StepUsage, UsageTotals

_LARGEST = ("peak_memory_bytes", "memory_limit_bytes")
_ADDED = tuple(name for name in UsageTotals.model_fields if name not in _LARGEST)


def total_usage(parts: Sequence[StepUsage]) -> UsageTotals:
    """Add up the session's own parts, without what a fork copied from its source."""
    return add_up([part for part in parts if not part.inherited])


def add_up(parts: Sequence[StepUsage]) -> UsageTotals:
    """Add up all parts. Memory is not a sum but the largest cell's."""
    sums = {name: _sum(getattr(part, name) for part in parts) for name in _ADDED}
    peaks = {name: max((getattr(part, name) for part in parts), default=0) for name in _LARGEST}
    return UsageTotals.model_validate(sums | peaks)


def _sum(values: Iterable[float]) -> float:
    return round(sum(values), 6)
