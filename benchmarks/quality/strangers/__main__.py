"""Labcrew on tables that nobody tuned on, used in ways that it is not told.

    python -m benchmarks.quality.strangers [--half tuned] [--tasks NAME ...] [--budget 60] [--page FILE]

Results are kept, and what is there is not run again unless `--again` is said: a run can be stopped and made in
parts. `--show` writes the page from what is there and runs nothing. Of the tasks that are kept aside only the
figures of all together are printed. AutoGluon and FLAML run on twelve tasks where they are installed.
"""

import argparse
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.quality import ledger
from benchmarks.quality.home import DEFAULT, ROOT, Home, Json
from benchmarks.quality.run import describe_result, run
from benchmarks.quality.standing import NAIVE, OURS
from benchmarks.quality.strangers.halves import kept_aside, order_by_hash, peer_tasks
from benchmarks.quality.strangers.outcomes import PLAIN, is_worth_running
from benchmarks.quality.strangers.page import SLOW_PEERS, Rows, write_page

MODULES = {"autogluon": "autogluon.tabular", "flaml": "flaml"}


class Suite:
    """The tasks in a folder, which `prepare` cut there."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._run_in_venv("-m", "benchmarks.quality.strangers.prepare", str(home.tables))
        self.names = sorted(path.name for path in home.tables.iterdir())

    def has_package(self, peer: str) -> bool:
        return self._run_in_venv("-c", f"import {MODULES[peer]}", check=False) == 0

    def facts(self) -> dict[str, Json]:
        return {name: self.home.facts(name) for name in self.names}

    def rows(self, budget_s: float) -> Rows:
        rows = ledger.scores(ledger.read(self.home.results).values(), budget_s, budget_s)
        return {task: row for task, row in rows.items() if task in self.names}

    def _run_in_venv(self, *arguments: str, check: bool = True) -> int:
        if not self.home.python.exists():
            raise SystemExit(
                "Run `python -m benchmarks.quality.install --data-only` first: it installs the tables."
            )
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        errors = None if check else subprocess.DEVNULL
        command = [str(self.home.python), *arguments]
        return subprocess.run(command, check=check, cwd=ROOT, env=environment, stderr=errors).returncode


def run_suite(suite: Suite, tasks: Sequence[str], budget_s: float, again: bool, with_peers: bool) -> None:
    """Run naive and plain boosting first: a task that nobody can learn is dropped before Labcrew runs."""
    aside = kept_aside(suite.names)

    def describe(result: Json) -> str:
        return "a task that is kept aside" if result["table"] in aside else describe_result(result)

    run(suite.home, list(tasks), [NAIVE, PLAIN], budget_s, False, describe)
    if with_peers:
        for peer in SLOW_PEERS:
            if suite.has_package(peer):
                chosen = [task for task in tasks if task in peer_tasks(suite.names)]
                run(suite.home, chosen, [peer], budget_s, False, describe)
            else:
                print(f"{peer} is not installed, and left out: see benchmarks/quality/README.md.")
    rows = suite.rows(budget_s)
    learnable = [task for task in tasks if is_worth_running(rows.get(task, {}), (PLAIN, *SLOW_PEERS))]
    run(suite.home, learnable, [OURS], budget_s, again, describe)


def choose_tasks(names: Sequence[str], half: str, wanted: Sequence[str] | None) -> list[str]:
    aside = kept_aside(names)
    chosen = {"tuned": set(names) - aside, "aside": aside, "both": set(names)}[half]
    unknown = sorted(set(wanted or ()) - chosen)
    if unknown:
        raise SystemExit(f"Not among the {half} tasks: {', '.join(unknown)}.")
    return sorted(wanted or chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=DEFAULT)
    parser.add_argument("--half", choices=("tuned", "aside", "both"), default="tuned")
    parser.add_argument("--tasks", nargs="+")
    parser.add_argument(
        "--first", type=int, help="Only so many tasks of the half, in the order of their hashes."
    )
    parser.add_argument("--budget", type=float, default=60, help="Seconds a task.")
    parser.add_argument("--no-peers", action="store_true", help="Leave out AutoGluon and FLAML.")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--page", type=Path, help="Write the page there too.")
    given = parser.parse_args()
    suite = Suite(Home(given.home.resolve(), "strangers"))
    tasks = choose_tasks(suite.names, given.half, given.tasks)
    if given.first:
        tasks = order_by_hash(tasks)[: given.first]
    if not given.show:
        run_suite(suite, tasks, given.budget, given.again, not given.no_peers)
    rows = {task: row for task, row in suite.rows(given.budget).items() if task in tasks}
    page = write_page(rows, suite.facts(), given.budget, suite.names)
    print(page)
    if given.page:
        given.page.write_text(page)


if __name__ == "__main__":
    main()
