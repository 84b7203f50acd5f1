"""The output of `labcrew compare`: sessions side by side, what differs, and the paired difference."""

import json
from typing import Any

from pydantic import Field
from rich.console import Console
from rich.table import Table

from app.cli.api_client.responses import ApiDocument, HoldoutScore
from app.cli.terminal.sanitize import plain
from app.reporting.metrics import describe_metric

SHOWN_ID_LENGTH = 8
"""Characters of an id, as in a list of sessions."""
MAX_SHOWN_CANDIDATES = 12
"""Differences between candidates that are printed: their scores are in the leaderboards of both sessions."""
MAX_VALUE_CHARS = 60
"""Characters of a value, so that both values of a difference fit one line of a wide terminal."""


class ComparedResult(ApiDocument):
    id: str
    status: str
    headline: str | None = None
    model_name: str | None = None
    holdout: HoldoutScore | None = None


class RecordedDifference(ApiDocument):
    kind: str
    name: str
    first: Any = None
    second: Any = None
    first_step: int | None = None
    second_step: int | None = None


class ScoreDifference(ApiDocument):
    first: float | None = None
    second: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    better: str | None = None


class RowComparison(ApiDocument):
    rows: int = 0
    reason: str | None = None
    level: float | None = None
    metrics: dict[str, ScoreDifference] = Field(default_factory=dict)


class ComparedPair(ApiDocument):
    first: str
    second: str
    common_step: int
    common_node: str | None = None
    differences: tuple[RecordedDifference, ...] = ()
    holdout: RowComparison


class SessionComparisonDocument(ApiDocument):
    sessions: tuple[ComparedResult, ...]
    pairs: tuple[ComparedPair, ...]


def show_comparison(comparison: SessionComparisonDocument, console: Console) -> None:
    """Print the results of the sessions, and each pair."""
    console.print(_results_table(comparison.sessions))
    for pair in comparison.pairs:
        _show_pair(pair, console)


def _results_table(sessions: tuple[ComparedResult, ...]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in ("Session", "Status", "Model", "Hold-out"):
        table.add_column(heading)
    for session in sessions:
        score = session.holdout
        bounds = f" ({_number(score.low)} to {_number(score.high)})" if score else ""
        score_text = f"{describe_metric(score.metric).label} {_number(score.value)}{bounds}" if score else "-"
        name = plain(session.model_name or "-")
        table.add_row(session.id[:SHOWN_ID_LENGTH], session.status.replace("_", " "), name, score_text)
    return table


def _show_pair(pair: ComparedPair, console: Console) -> None:
    first, second = pair.first[:SHOWN_ID_LENGTH], pair.second[:SHOWN_ID_LENGTH]
    console.print(f"\n[bold]{second} beside {first}[/]")
    node = (pair.common_node or "").replace("_", " ")
    console.print(
        f"Both have the steps up to {pair.common_step} ({node}) in common."
        if pair.common_step
        else "They have no step in common."
    )
    if not pair.differences:
        console.print("Nothing that was recorded differs.")
    candidates = [difference for difference in pair.differences if difference.kind == "candidate"]
    for difference in pair.differences:
        # Only candidates are cut: each other kind of difference is rare, and may explain the scores.
        if difference not in candidates[MAX_SHOWN_CANDIDATES:]:
            console.print(_describe(difference))
    if len(candidates) > MAX_SHOWN_CANDIDATES:
        console.print(f"  and {len(candidates) - MAX_SHOWN_CANDIDATES} candidates more")
    _show_rows(pair, console)


def _describe(difference: RecordedDifference) -> str:
    values = f"{_format(difference.first)} -> {_format(difference.second)}"
    # One number where both sides differ in the same step.
    steps = " and ".join(
        dict.fromkeys(str(step) for step in (difference.first_step, difference.second_step) if step is not None)
    )
    origin = f" [dim](step {steps})[/]" if steps else ""
    return f"  {difference.kind.replace('_', ' ')} {plain(difference.name)}: {plain(values)}{origin}"


def _format(value: Any) -> str:
    text = value if isinstance(value, str) else "none" if value is None else json.dumps(value)
    return text if len(text) <= MAX_VALUE_CHARS else f"{text[: MAX_VALUE_CHARS - 1]}…"


def _show_rows(pair: ComparedPair, console: Console) -> None:
    rows = pair.holdout
    if rows.reason is not None:
        console.print(plain(rows.reason))
        return
    first, second = pair.first[:SHOWN_ID_LENGTH], pair.second[:SHOWN_ID_LENGTH]
    level = f"{100 * (rows.level or 0.95):.4g} %"
    console.print(f"On the same {rows.rows:,} rows of the hold-out, {second} minus the other, at {level}:")
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in ("Metric", first, second, "Difference", "From", "To", "Better beyond chance"):
        table.add_column(heading)
    for name, difference in rows.metrics.items():
        parts = (difference.first, difference.second, difference.value, difference.low, difference.high)
        numbers = (_number(number) for number in parts)
        better = (difference.better or "neither")[:SHOWN_ID_LENGTH]
        table.add_row(plain(describe_metric(name).label), *numbers, better)
    console.print(table)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
