"""The report: each kind of fault with how many sessions it touched and how soon they went on."""

from collections.abc import Mapping, Sequence

from tests.chaos.checks.rows import Verdict
from tests.chaos.recovery import Recovery

_MAX_SHOWN = 5


def table(recoveries: Sequence[Recovery]) -> str:
    head = f"{'fault':<34}{'times':>6}{'sessions touched':>18}{'median s':>10}{'p99 s':>8}{'longest s':>11}"
    lines = [head, "-" * len(head)]
    lines += [_line(one) for one in recoveries]
    return "\n".join(lines)


def _line(one: Recovery) -> str:
    figures = "".join(
        f"{value:>{width}.2f}" if one.seconds else f"{'':>{width}}"
        for value, width in (
            (quantile(one.seconds, 0.5), 10),
            (quantile(one.seconds, 0.99), 8),
            (quantile(one.seconds, 1.0), 11),
        )
    )
    return f"{one.kind:<34}{one.faults:>6}{one.touched:>18}{figures}"


def quantile(ordered: Sequence[float], share: float) -> float:
    """Of values in order, the least that so many are not above; 0 of none."""
    if not ordered:
        return 0.0
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def verdicts(found: Sequence[Verdict]) -> str:
    lines = []
    for one in found:
        lines.append(f"{'BROKEN' if one.broken else 'holds '}  {one.claim}")
        lines += [f"          {what}" for what in one.broken[:_MAX_SHOWN]]
        if len(one.broken) > _MAX_SHOWN:
            lines.append(f"          and {len(one.broken) - _MAX_SHOWN} more")
    return "\n".join(lines)


def counts(facts: Mapping[str, object]) -> str:
    return "\n".join(f"{name:<34}{value}" for name, value in facts.items())
