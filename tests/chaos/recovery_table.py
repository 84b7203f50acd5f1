"""The report: a table of faults with the sessions that each touched and the time until they went on."""

from collections.abc import Mapping, Sequence

from tests.chaos.checks.rows import Verdict
from tests.chaos.recovery import Recovery

_MAX_SHOWN = 5
"""Violations of one check that are printed."""


def table(recoveries: Sequence[Recovery]) -> str:
    head = f"{'fault':<34}{'times':>6}{'sessions touched':>18}{'median s':>10}{'p99 s':>8}{'longest s':>11}"
    lines = [head, "-" * len(head)]
    lines += [_line(recovery) for recovery in recoveries]
    return "\n".join(lines)


def _line(recovery: Recovery) -> str:
    figures = "".join(
        f"{value:>{width}.2f}" if recovery.seconds else f"{'':>{width}}"
        for value, width in (
            (quantile(recovery.seconds, 0.5), 10),
            (quantile(recovery.seconds, 0.99), 8),
            (quantile(recovery.seconds, 1.0), 11),
        )
    )
    return f"{recovery.kind:<34}{recovery.faults:>6}{recovery.touched:>18}{figures}"


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the least of ordered values that is not below that share of them; 0 without values."""
    if not ordered:
        return 0.0
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def verdicts(results: Sequence[Verdict]) -> str:
    lines = []
    for verdict in results:
        lines.append(f"{'BROKEN' if verdict.broken else 'holds '}  {verdict.claim}")
        lines += [f"          {fault}" for fault in verdict.broken[:_MAX_SHOWN]]
        if len(verdict.broken) > _MAX_SHOWN:
            lines.append(f"          and {len(verdict.broken) - _MAX_SHOWN} more")
    return "\n".join(lines)


def counts(facts: Mapping[str, object]) -> str:
    return "\n".join(f"{name:<34}{value}" for name, value in facts.items())
