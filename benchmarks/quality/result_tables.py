"""Plain-text tables of stored results."""

from collections.abc import Iterable, Mapping

from benchmarks.quality.comparison import (
    LABCREW,
    NAIVE,
    PEERS,
    budget_overrun,
    is_claim_consistent,
    mean_normalised_scores,
    normalised_scores,
    pairwise_wins_and_losses,
    standardised_claim_error,
)
from benchmarks.quality.run_folders import Json

Rows = Mapping[str, Mapping[str, Json]]


def render_results(rows: Rows, budget_s: float, peers_budget_s: float) -> str:
    """Render scores, normalised scores, claims, and costs in seconds, memory and machine load."""
    parts = [
        f"Scores on the test rows; Labcrew {budget_s:g} s, peers {peers_budget_s:g} s",
        _scores(rows),
        "\nNormalised: 0 is naive, 1 the best peer",
        _normalised(rows),
        _pairwise(rows),
        "\nClaims: (claim - test score) in standard errors, positive is optimistic; ! beyond two",
        _claims(rows),
        "\nSeconds of fitting (! more than 10 % over) / peak memory in MB / other load in cores",
        _costs(rows),
    ]
    return "\n".join(parts)


def _present(rows: Rows) -> list[str]:
    present = {name for row in rows.values() for name in row}
    return [name for name in (LABCREW, *PEERS, NAIVE) if name in present]


def _scores(rows: Rows) -> str:
    names = _present(rows)
    table_rows = [
        [table, next(iter(row.values()))["metric"], *(_score(row.get(name)) for name in names)]
        for table, row in rows.items()
    ]
    return render_grid(["table", "metric", *names], table_rows)


def _score(result: Json | None) -> str:
    if result is None:
        return ""
    if result.get("score") is None:
        return "failed"
    return f"{result['score']:.4g} ±{result['error']:.2g}"


def _normalised(rows: Rows) -> str:
    names = [name for name in _present(rows) if name != NAIVE]
    table_rows = []
    for table, row in rows.items():
        values = normalised_scores(row)
        table_rows.append([table, *(f"{values[name]:.3f}" if name in values else "" for name in names)])
    average = mean_normalised_scores(rows)
    table_rows.append(["MEAN", *(f"{average[name]:.3f}" if name in average else "" for name in names)])
    return render_grid(["table", *names], table_rows)


def _pairwise(rows: Rows) -> str:
    return "; ".join(
        f"against {peer}: {wins} won, {losses} lost"
        for peer, (wins, losses) in pairwise_wins_and_losses(rows).items()
    )


def _claims(rows: Rows) -> str:
    names = [
        name
        for name in _present(rows)
        if any(standardised_claim_error(row.get(name, {})) is not None for row in rows.values())
    ]
    table_rows = [[table, *(_claim(row.get(name)) for name in names)] for table, row in rows.items()]
    consistent_counts = []
    for name in names:
        verdicts = [is_claim_consistent(row[name]) for row in rows.values() if name in row]
        judged = [answer for answer in verdicts if answer is not None]
        consistent_counts.append(f"{sum(judged)} of {len(judged)}")
    return render_grid(["table", *names], [*table_rows, ["CONSISTENT", *consistent_counts]])


def _claim(result: Json | None) -> str:
    claim_error = standardised_claim_error(result) if result else None
    if result is None or claim_error is None:
        return ""
    return f"{result['claim']:.4g} ({claim_error:+.1f}){'' if abs(claim_error) <= 2 else ' !'}"


def _costs(rows: Rows) -> str:
    names = [name for name in _present(rows) if name != NAIVE]
    return render_grid(
        ["table", *names], [[table, *(_cost(row.get(name)) for name in names)] for table, row in rows.items()]
    )


def _cost(result: Json | None) -> str:
    if result is None or result.get("score") is None:
        return "" if result is None else "failed"
    overrun = budget_overrun(result)
    marker = " !" if overrun is not None and overrun > 0.1 else ""
    return f"{result['fit_s']:.0f}{marker} / {result['peak_mb']:.0f} / {result['others_cores']:.1f}"


def render_grid(header: list[str], table_rows: Iterable[list[str]]) -> str:
    """Align columns to their widest cells."""
    all_rows = [header, *table_rows]
    widths = [max(len(cells[column]) for cells in all_rows) for column in range(len(header))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(cells, widths, strict=True)).rstrip()
        for cells in all_rows
    )
