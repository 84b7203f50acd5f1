"""Labcrew on tables that it was not tuned on, with test rows whose choice its goal does not state.

    python -m benchmarks.quality.strangers [--half tuned] [--tasks NAME ...] [--budget 60] [--page FILE]

Results are stored one by one, and stored ones are not run again without `--again`, so a run can be stopped and
made in parts. `--show` writes the page from stored results and runs nothing. Of held-out tasks only the figures
of all together are printed. AutoGluon and FLAML run on twelve tasks where they are installed.
"""

import argparse
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.quality import result_log
from benchmarks.quality.comparison import LABCREW, NAIVE
from benchmarks.quality.run import describe_result, run
from benchmarks.quality.run_folders import DEFAULT_FOLDER, ROOT, Json, RunFolders
from benchmarks.quality.strangers.held_out import held_out_tasks, order_by_hash, peer_tasks
from benchmarks.quality.strangers.outcomes import PLAIN_BOOSTING, is_learnable
from benchmarks.quality.strangers.results_page import SLOW_PEERS, ResultsByTask, render_results_page

PEER_MODULES = {"autogluon": "autogluon.tabular", "flaml": "flaml"}


class Suite:
    """The tasks of a folder, split into training and test rows by `prepare`."""

    def __init__(self, folders: RunFolders) -> None:
        self.folders = folders
        self._run_in_environment("-m", "benchmarks.quality.strangers.prepare", str(folders.tables))
        self.names = sorted(path.name for path in folders.tables.iterdir())

    def has_package(self, peer: str) -> bool:
        return self._run_in_environment("-c", f"import {PEER_MODULES[peer]}", check=False) == 0

    def facts(self) -> dict[str, Json]:
        return {name: self.folders.facts(name) for name in self.names}

    def results(self, budget_s: float) -> ResultsByTask:
        results = result_log.results_by_budget(
            result_log.read_results(self.folders.results).values(), budget_s, budget_s
        )
        return {task: task_results for task, task_results in results.items() if task in self.names}

    def _run_in_environment(self, *arguments: str, check: bool = True) -> int:
        if not self.folders.python.exists():
            raise SystemExit(
                "Run `python -m benchmarks.quality.install --data-only` first: it installs the tables."
            )
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        errors = None if check else subprocess.DEVNULL
        command = [str(self.folders.python), *arguments]
        return subprocess.run(command, check=check, cwd=ROOT, env=environment, stderr=errors).returncode


def run_suite(suite: Suite, tasks: Sequence[str], budget_s: float, again: bool, with_peers: bool) -> None:
    """Run naive and plain boosting first: a task that nobody can learn is dropped before Labcrew runs."""
    held_out = held_out_tasks(suite.names)

    def describe(result: Json) -> str:
        return "a held-out task" if result["table"] in held_out else describe_result(result)

    run(suite.folders, list(tasks), [NAIVE, PLAIN_BOOSTING], budget_s, False, describe)
    if with_peers:
        for peer in SLOW_PEERS:
            if suite.has_package(peer):
                subset = [task for task in tasks if task in peer_tasks(suite.names)]
                run(suite.folders, subset, [peer], budget_s, False, describe)
            else:
                print(f"{peer} is not installed, and left out: see benchmarks/quality/README.md.")
    results = suite.results(budget_s)
    learnable = [task for task in tasks if is_learnable(results.get(task, {}), (PLAIN_BOOSTING, *SLOW_PEERS))]
    run(suite.folders, learnable, [LABCREW], budget_s, again, describe)


def choose_tasks(names: Sequence[str], subset_name: str, requested: Sequence[str] | None) -> list[str]:
    held_out = held_out_tasks(names)
    subset = {"tuned": set(names) - held_out, "aside": held_out, "both": set(names)}[subset_name]
    unknown = sorted(set(requested or ()) - subset)
    if unknown:
        raise SystemExit(f"Not among the {subset_name} tasks: {', '.join(unknown)}.")
    return sorted(requested or subset)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=DEFAULT_FOLDER)
    parser.add_argument(
        "--half", choices=("tuned", "aside", "both"), default="tuned", help="aside: the held-out tasks."
    )
    parser.add_argument("--tasks", nargs="+")
    parser.add_argument(
        "--first", type=int, help="Only so many tasks of the half, in the order of their hashes."
    )
    parser.add_argument("--budget", type=float, default=60, help="Seconds a task.")
    parser.add_argument("--no-peers", action="store_true", help="Leave out AutoGluon and FLAML.")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--page", type=Path, help="Write the page there too.")
    options = parser.parse_args()
    suite = Suite(RunFolders(options.home.resolve(), "strangers"))
    tasks = choose_tasks(suite.names, options.half, options.tasks)
    if options.first:
        tasks = order_by_hash(tasks)[: options.first]
    if not options.show:
        run_suite(suite, tasks, options.budget, options.again, not options.no_peers)
    results = {
        task: task_results for task, task_results in suite.results(options.budget).items() if task in tasks
    }
    page = render_results_page(results, suite.facts(), options.budget, suite.names)
    print(page)
    if options.page:
        options.page.write_text(page)


if __name__ == "__main__":
    main()
