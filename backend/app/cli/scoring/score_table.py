"""Scores as a table, and in one line."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from app.cli.scoring.score_log import Score
from app.cli.terminal.sanitize import plain


def accuracy(scores: Sequence[Score]) -> float:
    return sum(score.right for score in scores) / len(scores) if scores else 0.0


def score_table(scores: Sequence[Score]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("Item", no_wrap=True)
    table.add_column("Expected")
    table.add_column("Right")
    for name in ("Seconds", "Calls", "Prompt", "Tokens", "Cost"):
        table.add_column(name, justify="right")
    table.add_column("Why not")
    for score in scores:
        right = "yes" if score.right else "[red]no[/]"
        why = plain("; ".join(score.misses))
        table.add_row(
            plain(score.item),
            score.kind,
            right,
            f"{score.seconds:.1f}",
            f"{score.calls}",
            f"{score.prompt_tokens:,}",
            f"{score.tokens:,}",
            _cost([score]),
            why,
        )
    for kind in dict.fromkeys(score.kind for score in scores):
        table.add_row(*_sums(f"of {kind}", [score for score in scores if score.kind == kind]))
    table.add_row(*_sums("overall", scores))
    return table


def _sums(name: str, scores: Sequence[Score]) -> Iterable[str]:
    right = sum(score.right for score in scores)
    # Means of what is felt per session; sums of what is paid for.
    seconds = sum(score.seconds for score in scores) / len(scores)
    tokens = sum(score.tokens for score in scores)
    calls = sum(score.calls for score in scores) / len(scores)
    prompt = sum(score.prompt_tokens for score in scores) / len(scores)
    means = (f"{seconds:.1f}", f"{calls:.1f}", f"{prompt:,.0f}")
    cells = (name, "", f"{right}/{len(scores)}", *means, f"{tokens:,}", _cost(scores), "")
    return [f"[bold]{cell}[/]" if cell else "" for cell in cells]


def _cost(scores: Sequence[Score]) -> str:
    """A sum without the calls that have no price is said to be one."""
    partly = "+" if any(score.unpriced_calls for score in scores) else ""
    return f"{sum(score.cost_usd for score in scores):.4f}{partly}"


def document(suite: str, scores: Sequence[Score]) -> dict[str, Any]:
    """Build the JSON document of `--json`."""
    return {
        "suite": suite,
        "accuracy": round(accuracy(scores), 4),
        "right": sum(score.right for score in scores),
        "items": len(scores),
        "calls": sum(score.calls for score in scores),
        "prompt_tokens": sum(score.prompt_tokens for score in scores),
        "tokens": sum(score.tokens for score in scores),
        "cost_usd": round(sum(score.cost_usd for score in scores), 6),
        "seconds": round(sum(score.seconds for score in scores), 2),
        "models": sorted({model for score in scores for model in score.models}),
        "scores": [asdict(score) for score in scores],
    }
