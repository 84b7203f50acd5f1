"""Labcrew's forecasts of series and of transactions beside references, on the last third of the time.

    python -m benchmarks.quality.series [--half tuned] [--tasks NAME ...] [--budget 20] [--page FILE]

Results are stored one by one, and stored ones are not run again without `--again`, so a run can be stopped and
made in parts. `--show` writes the page from stored results and runs nothing. Of held-out tasks only the figures
of all together are printed.
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

from benchmarks.quality import result_log
from benchmarks.quality.comparison import LABCREW
from benchmarks.quality.labcrew_client import LabcrewClient, running_service
from benchmarks.quality.run_folders import DEFAULT_FOLDER, ROOT, Json, RunFolders
from benchmarks.quality.series.forecasts import forecast_references, forecast_with_labcrew, read_values
from benchmarks.quality.series.outcomes import Outcome, evaluate_task
from benchmarks.quality.series.results_page import ResultsByTask, render_results_page
from benchmarks.quality.series.tasks.registry import is_held_out
from benchmarks.quality.strangers.held_out import order_by_hash

REFERENCES = "references"


def prepare_tasks(folders: RunFolders) -> dict[str, Json]:
    """Prepare the tasks that are not prepared yet; return the facts of all."""
    if not folders.python.exists():
        raise SystemExit(
            "Run `python -m benchmarks.quality.install --data-only` first: it installs the tables."
        )
    command = [str(folders.python), "-m", "benchmarks.quality.series.prepare", str(folders.tables)]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    return {
        path.parent.name: json.loads(path.read_text()) for path in sorted(folders.tables.glob("*/task.json"))
    }


def run_tasks(
    folders: RunFolders, facts: dict[str, Json], tasks: Sequence[str], budget_s: float, again: bool
) -> None:
    """Forecast by the references and by the crew, and append each result."""
    stored = result_log.read_results(folders.results)
    with contextlib.ExitStack() as stack:
        client: LabcrewClient | None = None
        for task in tasks:
            folder = folders.table(task)
            if (task, REFERENCES, 0.0) not in stored:
                result = {**_result_header(task, REFERENCES, 0.0), **forecast_references(folder, facts[task])}
                result_log.append_result(folders.results, result)
            if again or (task, LABCREW, budget_s) not in stored:
                client = client or stack.enter_context(running_service(folders))
                result = run_labcrew(client, folder, facts[task], budget_s)
                result_log.append_result(folders.results, result)
                failure = "" if is_held_out(task) else result.get("failed", "")
                print("a held-out task" if is_held_out(task) else task, failure, flush=True)


def run_labcrew(client: LabcrewClient, folder: Path, facts: Json, budget_s: float) -> Json:
    """Run one session and forecast with its model; a failure is a result too."""
    header, started = _result_header(facts["name"], LABCREW, budget_s), time.monotonic()
    try:
        return {**header, **forecast_with_labcrew(client, folder, facts, budget_s)}
    except (RuntimeError, ValueError, KeyError) as error:
        return {**header, "failed": f"{type(error).__name__}: {error}", "wall_s": time.monotonic() - started}


def _result_header(task: str, contender: str, budget_s: float) -> Json:
    timestamp = datetime.now(UTC).isoformat(timespec="seconds")
    return {
        "table": task,
        "contender": contender,
        "budget_s": budget_s,
        "at": timestamp,
        "load": os.getloadavg()[0],
    }


def evaluate_tasks(folders: RunFolders, facts: dict[str, Json], results: ResultsByTask) -> dict[str, Outcome]:
    outcomes = {
        task: evaluate_task(read_values(folders.table(task)), facts[task], task_results)
        for task, task_results in results.items()
    }
    return {task: outcome for task, outcome in outcomes.items() if outcome is not None}


def choose_tasks(names: Sequence[str], subset_name: str, requested: Sequence[str] | None) -> list[str]:
    subset = [name for name in names if subset_name == "both" or is_held_out(name) == (subset_name == "aside")]
    unknown = sorted(set(requested or ()) - set(subset))
    if unknown:
        raise SystemExit(f"Not among the {subset_name} tasks: {', '.join(unknown)}.")
    return order_by_hash(requested or subset)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=DEFAULT_FOLDER)
    parser.add_argument(
        "--half", choices=("tuned", "aside", "both"), default="tuned", help="aside: the held-out tasks."
    )
    parser.add_argument("--tasks", nargs="+")
    parser.add_argument("--first", type=int, help="Only so many tasks, in the order of their hashes.")
    parser.add_argument("--budget", type=float, default=20, help="Seconds a task.")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--page", type=Path, help="Write the page there too.")
    options = parser.parse_args()
    folders = RunFolders(options.home.resolve(), "series")
    facts = prepare_tasks(folders)
    tasks = choose_tasks(list(facts), options.half, options.tasks)[: options.first]
    if not options.show:
        run_tasks(folders, facts, tasks, options.budget, options.again)
    all_results = result_log.results_by_budget(
        result_log.read_results(folders.results).values(), options.budget, options.budget
    )
    results = {task: task_results for task, task_results in all_results.items() if task in tasks}
    failures = {
        task: task_results[LABCREW]["failed"]
        for task, task_results in results.items()
        if "failed" in task_results.get(LABCREW, {})
    }
    page = render_results_page(
        evaluate_tasks(folders, facts, results), failures, results, facts, options.budget
    )
    print(page)
    if options.page:
        options.page.write_text(page)


if __name__ == "__main__":
    main()
