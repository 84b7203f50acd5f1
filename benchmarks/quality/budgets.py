"""Overrun of time budgets and peak memory of sessions, from a thousand rows to 300,000.

    python -m benchmarks.quality.budgets [--budgets 20 60] [--rows 1000 300000] [--table NAME]

Each session is given the first rows of one table, upload not counted: its time is from its first claim to its
end, report included.
"""

import argparse
import time
from itertools import islice, product
from pathlib import Path

from benchmarks.quality.labcrew_client import (
    LabcrewClient,
    running_service,
    session_duration_s,
    session_preferences,
)
from benchmarks.quality.resource_usage import ResourceMonitor
from benchmarks.quality.result_tables import render_grid
from benchmarks.quality.run_folders import DEFAULT_FOLDER, Json, RunFolders

ROWS = (1_000, 30_000, 100_000, 300_000)
BUDGETS_S = (20.0, 60.0)
MAX_OVERRUN = 0.1
"""Share of the budget by which a session may exceed it."""
HEADER = [
    "rows",
    "budget s",
    "duration s",
    "overrun",
    "",
    "cell MB",
    "limit MB",
    "service MB",
    "other load",
    "result",
]


def first_rows(table: Path, rows: int, folder: Path) -> Path:
    """A file of the first rows of the table's training rows."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{table.name}-{rows}.csv"
    with (table / "train.csv").open() as source_file, path.open("w") as target_file:
        target_file.writelines(islice(source_file, rows + 1))
    return path


def measure(folders: RunFolders, client: LabcrewClient, facts: Json, rows: int, budget_s: float) -> list[str]:
    """Run one session and return its row of the table, with the error if it failed."""
    data = client.upload(first_rows(folders.table(facts["name"]), rows, folders.folder / "parts"))
    request = {
        "goal": facts["goal"],
        "dataset_ids": [data],
        "preferences": session_preferences(facts, budget_s),
    }
    started = time.monotonic()
    with ResourceMonitor(client.pid, started) as monitor:
        session = client.run_session(request, budget_s)
    usage = monitor.finish(time.monotonic())
    duration_s = session_duration_s(session)
    budget_overrun = duration_s / budget_s - 1
    session_usage = session["usage"]
    result = session["result"] or {}
    return [
        f"{rows:,}",
        f"{budget_s:g}",
        f"{duration_s:.1f}",
        f"{budget_overrun:+.0%}",
        "" if budget_overrun <= MAX_OVERRUN else "exceeded",
        _mb(session_usage.get("peak_memory_bytes")),
        _mb(session_usage.get("memory_limit_bytes")),
        f"{usage.peak_mb:.0f}",
        f"{usage.others_cores:.1f}",
        str(result.get("model_name") or session["error"] or session["status"]),
    ]


def _mb(size_bytes: int | None) -> str:
    return f"{size_bytes / 2**20:.0f}" if size_bytes else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=DEFAULT_FOLDER)
    parser.add_argument("--table", default="flights_late")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--budgets", type=float, nargs="+", default=BUDGETS_S)
    options = parser.parse_args()
    folders = RunFolders(options.home.resolve())
    facts = folders.facts(options.table)
    table_rows = []
    with running_service(folders) as client:
        for budget_s, rows in product(options.budgets, options.rows):
            table_rows.append(measure(folders, client, facts, rows, budget_s))
            print(" ".join(table_rows[-1]), flush=True)
    print(render_grid(HEADER, table_rows))


if __name__ == "__main__":
    main()
