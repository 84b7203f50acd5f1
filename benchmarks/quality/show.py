"""Results as tables to read."""

from collections.abc import Iterable, Mapping

from benchmarks.quality.home import Json
from benchmarks.quality.standing import NAIVE, OURS, PEERS, duels, is_kept, means, normalised, overrun, surprise

Rows = Mapping[str, Mapping[str, Json]]


def show(rows: Rows, budget_s: float, peers_budget_s: float) -> str:
    """Scores, normalised scores, claims, and what it took."""
    parts = [
        f"Scores on rows that nobody saw; Labcrew {budget_s:g} s, peers {peers_budget_s:g} s",
        _scores(rows),
        "\nNormalised: 0 is naive, 1 the best peer",
        _normalised(rows),
        _duels(rows),
        "\nClaimed and true: (claim - truth) in standard errors, positive is too good; ! beyond two",
        _claims(rows),
        "\nSeconds of fitting (! more than 10 % over) / peak memory in MB / other load in cores",
        _costs(rows),
    ]
    return "\n".join(parts)


def _present(rows: Rows) -> list[str]:
    seen = {name for row in rows.values() for name in row}
    return [name for name in (OURS, *PEERS, NAIVE) if name in seen]


def _scores(rows: Rows) -> str:
    names = _present(rows)
    lines = [
        [table, next(iter(row.values()))["metric"], *(_score(row.get(name)) for name in names)]
        for table, row in rows.items()
    ]
    return grid(["table", "metric", *names], lines)


def _score(result: Json | None) -> str:
    if result is None:
        return ""
    if result.get("score") is None:
        return "failed"
    return f"{result['score']:.4g} ±{result['error']:.2g}"


def _normalised(rows: Rows) -> str:
    names = [name for name in _present(rows) if name != NAIVE]
    lines = []
    for table, row in rows.items():
        values = normalised(row)
        lines.append([table, *(f"{values[name]:.3f}" if name in values else "" for name in names)])
    average = means(rows)
    lines.append(["MEAN", *(f"{average[name]:.3f}" if name in average else "" for name in names)])
    return grid(["table", *names], lines)


def _duels(rows: Rows) -> str:
    return "; ".join(f"against {peer}: {won} won, {lost} lost" for peer, (won, lost) in duels(rows).items())


def _claims(rows: Rows) -> str:
    names = [
        name for name in _present(rows) if any(surprise(row.get(name, {})) is not None for row in rows.values())
    ]
    lines = [[table, *(_claim(row.get(name)) for name in names)] for table, row in rows.items()]
    kept = []
    for name in names:
        answers = [is_kept(row[name]) for row in rows.values() if name in row]
        known = [answer for answer in answers if answer is not None]
        kept.append(f"{sum(known)} of {len(known)}")
    return grid(["table", *names], [*lines, ["KEPT", *kept]])


def _claim(result: Json | None) -> str:
    away = surprise(result) if result else None
    if result is None or away is None:
        return ""
    return f"{result['claim']:.4g} ({away:+.1f}){'' if abs(away) <= 2 else ' !'}"


def _costs(rows: Rows) -> str:
    names = [name for name in _present(rows) if name != NAIVE]
    return grid(
        ["table", *names], [[table, *(_cost(row.get(name)) for name in names)] for table, row in rows.items()]
    )


def _cost(result: Json | None) -> str:
    if result is None or result.get("score") is None:
        return "" if result is None else "failed"
    over = overrun(result)
    broken = " !" if over is not None and over > 0.1 else ""
    return f"{result['fit_s']:.0f}{broken} / {result['peak_mb']:.0f} / {result['others_cores']:.1f}"


def grid(head: list[str], lines: Iterable[list[str]]) -> str:
    """Columns as wide as they must be."""
    everything = [head, *lines]
    widths = [max(len(line[place]) for line in everything) for place in range(len(head))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in everything
    )
