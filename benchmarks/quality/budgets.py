"""Whether sessions keep to their time, and what memory their cells need, from a thousand rows to 300,000.

    python -m benchmarks.quality.budgets [--budgets 20 60] [--rows 1000 300000] [--table NAME]

Each session is given the first rows of one table, upload not counted: its time is from its first claim to its
end, report included.
"""

import argparse
import time
from itertools import islice, product
from pathlib import Path

from benchmarks.quality.home import DEFAULT, Home, Json
from benchmarks.quality.ours import Ours, preferences, seconds_of, service
from benchmarks.quality.show import grid
from benchmarks.quality.watch import Watch

ROWS = (1_000, 30_000, 100_000, 300_000)
BUDGETS_S = (20.0, 60.0)
MAX_OVERRUN = 0.1
HEAD = [
    "rows",
    "budget s",
    "took s",
    "overrun",
    "",
    "cell MB",
    "limit MB",
    "service MB",
    "other load",
    "came to",
]


def first_rows(table: Path, rows: int, folder: Path) -> Path:
    """A file of the first rows of the table's training rows."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{table.name}-{rows}.csv"
    with (table / "train.csv").open() as whole, path.open("w") as part:
        part.writelines(islice(whole, rows + 1))
    return path


def measure(home: Home, ours: Ours, facts: Json, rows: int, budget_s: float) -> list[str]:
    """One line of the table; a session that failed says why."""
    data = ours.upload(first_rows(home.table(facts["name"]), rows, home.folder / "parts"))
    wish = {"goal": facts["goal"], "dataset_ids": [data], "preferences": preferences(facts, budget_s)}
    started = time.monotonic()
    with Watch(ours.pid, started) as watch:
        session = ours.finish(wish, budget_s)
    seen = watch.close(time.monotonic())
    took_s = seconds_of(session)
    overrun = took_s / budget_s - 1
    usage = session["usage"]
    result = session["result"] or {}
    return [
        f"{rows:,}",
        f"{budget_s:g}",
        f"{took_s:.1f}",
        f"{overrun:+.0%}",
        "" if overrun <= MAX_OVERRUN else "broken",
        _mb(usage.get("peak_memory_bytes")),
        _mb(usage.get("memory_limit_bytes")),
        f"{seen.peak_mb:.0f}",
        f"{seen.others_cores:.1f}",
        str(result.get("model_name") or session["error"] or session["status"]),
    ]


def _mb(size_bytes: int | None) -> str:
    return f"{size_bytes / 2**20:.0f}" if size_bytes else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=DEFAULT)
    parser.add_argument("--table", default="flights_late")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--budgets", type=float, nargs="+", default=BUDGETS_S)
    given = parser.parse_args()
    home = Home(given.home.resolve())
    facts = home.facts(given.table)
    lines = []
    with service(home) as ours:
        for budget_s, rows in product(given.budgets, given.rows):
            lines.append(measure(home, ours, facts, rows, budget_s))
            print(" ".join(lines[-1]), flush=True)
    print(grid(HEAD, lines))


if __name__ == "__main__":
    main()
