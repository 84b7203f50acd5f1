"""Labcrew's forecasts of series and of transactions beside references, on the last third of the time.

    python -m benchmarks.quality.series [--half tuned] [--tasks NAME ...] [--budget 20] [--page FILE]

Results are kept, and what is there is not run again unless `--again` is said: a run can be stopped and made in
parts. `--show` writes the page from what is there and runs nothing. Of the tasks that are kept aside only the
figures of all together are printed.
"""

import argparse
import contextlib
import json
import os
import subprocess
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.quality import ledger
from benchmarks.quality.home import DEFAULT, ROOT, Home, Json
from benchmarks.quality.ours import Ours, service
from benchmarks.quality.series.forecasts import forecast_references, forecast_with_crew, read_values
from benchmarks.quality.series.outcomes import Outcome, judge_task
from benchmarks.quality.series.page import Rows, write_page
from benchmarks.quality.series.tasks.registry import is_aside
from benchmarks.quality.standing import OURS
from benchmarks.quality.strangers.halves import order_by_hash

REFERENCES = "references"


def prepare_tasks(home: Home) -> dict[str, Json]:
    """Cut the tasks that are not there yet; return the facts of all."""
    if not home.python.exists():
        raise SystemExit(
            "Run `python -m benchmarks.quality.install --data-only` first: it installs the tables."
        )
    command = [str(home.python), "-m", "benchmarks.quality.series.prepare", str(home.tables)]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    return {path.parent.name: json.loads(path.read_text()) for path in sorted(home.tables.glob("*/task.json"))}


def run_tasks(home: Home, facts: dict[str, Json], tasks: Sequence[str], budget_s: float, again: bool) -> None:
    """Forecast by the references and by the crew, and append each result."""
    done = ledger.read(home.results)
    with contextlib.ExitStack() as stack:
        ours: Ours | None = None
        for task in tasks:
            folder = home.table(task)
            if (task, REFERENCES, 0.0) not in done:
                result = {**_stamp(task, REFERENCES, 0.0), **forecast_references(folder, facts[task])}
                ledger.append(home.results, result)
            if again or (task, OURS, budget_s) not in done:
                ours = ours or stack.enter_context(service(home))
                result = run_crew(ours, folder, facts[task], budget_s)
                ledger.append(home.results, result)
                failure = "" if is_aside(task) else result.get("failed", "")
                print("a task that is kept aside" if is_aside(task) else task, failure, flush=True)


def run_crew(ours: Ours, folder: Path, facts: Json, budget_s: float) -> Json:
    """One result of the crew; a failure is a result too."""
    stamp, started = _stamp(facts["name"], OURS, budget_s), time.monotonic()
    try:
        return {**stamp, **forecast_with_crew(ours, folder, facts, budget_s)}
    except (RuntimeError, ValueError, KeyError) as error:
        return {**stamp, "failed": f"{type(error).__name__}: {error}", "wall_s": time.monotonic() - started}


def _stamp(task: str, contender: str, budget_s: float) -> Json:
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    return {
        "table": task,
        "contender": contender,
        "budget_s": budget_s,
        "at": moment,
        "load": os.getloadavg()[0],
    }


def judge_all(home: Home, facts: dict[str, Json], rows: Rows) -> dict[str, Outcome]:
    outcomes = {task: judge_task(read_values(home.table(task)), facts[task], row) for task, row in rows.items()}
    return {task: outcome for task, outcome in outcomes.items() if outcome is not None}


def choose_tasks(names: Sequence[str], half: str, wanted: Sequence[str] | None) -> list[str]:
    chosen = [name for name in names if half == "both" or is_aside(name) == (half == "aside")]
    unknown = sorted(set(wanted or ()) - set(chosen))
    if unknown:
        raise SystemExit(f"Not among the {half} tasks: {', '.join(unknown)}.")
    return order_by_hash(wanted or chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=DEFAULT)
    parser.add_argument("--half", choices=("tuned", "aside", "both"), default="tuned")
    parser.add_argument("--tasks", nargs="+")
    parser.add_argument("--first", type=int, help="Only so many tasks, in the order of their hashes.")
    parser.add_argument("--budget", type=float, default=20, help="Seconds a task.")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--page", type=Path, help="Write the page there too.")
    given = parser.parse_args()
    home = Home(given.home.resolve(), "series")
    facts = prepare_tasks(home)
    tasks = choose_tasks(list(facts), given.half, given.tasks)[: given.first]
    if not given.show:
        run_tasks(home, facts, tasks, given.budget, given.again)
    everything = ledger.scores(ledger.read(home.results).values(), given.budget, given.budget)
    rows = {task: row for task, row in everything.items() if task in tasks}
    failed = {task: row[OURS]["failed"] for task, row in rows.items() if "failed" in row.get(OURS, {})}
    page = write_page(judge_all(home, facts, rows), failed, rows, facts, given.budget)
    print(page)
    if given.page:
        given.page.write_text(page)


if __name__ == "__main__":
    main()
