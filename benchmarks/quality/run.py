"""Labcrew against other tools on public tables, scored on held-out test rows.

    python -m benchmarks.quality.run [--tables NAME ...] [--contenders NAME ...] [--budget 60]

Results are stored one by one, and stored ones are not run again without `--again`, so a run can be made in
parts. `--show` prints the stored results and runs nothing.
"""

import argparse
import contextlib
import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
from benchmarks.quality import result_log
from benchmarks.quality.comparison import LABCREW
from benchmarks.quality.labcrew_client import LabcrewClient, running_service
from benchmarks.quality.peers import MODULES, run_peer
from benchmarks.quality.result_tables import render_results
from benchmarks.quality.run_folders import DEFAULT_FOLDER, Json, RunFolders
from benchmarks.quality.scoring import score_predictions

WITHOUT_BUDGET = {"naive", "skrub"}
CONTENDERS = (*MODULES, LABCREW)

Fit = Callable[[], tuple[pd.DataFrame, Json]]


def budget_of(contender: str, budget_s: float) -> float:
    return 0.0 if contender in WITHOUT_BUDGET else budget_s


def run_contender(folders: RunFolders, facts: Json, contender: str, budget_s: float, fit: Fit) -> Json:
    """Run one contender on one table and score it; a failure is stored as a result too."""
    result: Json = {
        "table": facts["name"],
        "contender": contender,
        "budget_s": budget_of(contender, budget_s),
        "metric": facts["metric"],
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "load": os.getloadavg()[0],
    }
    started = time.monotonic()
    try:
        prediction, measurements = fit()
        scored = score_predictions(folders.table(facts["name"]), prediction, facts)
    except (RuntimeError, ValueError, KeyError) as error:
        return {**result, "failed": f"{type(error).__name__}: {error}", "wall_s": time.monotonic() - started}
    return {
        **result,
        "score": scored.score,
        "error": scored.standard_error,
        "draws": scored.resampled_scores,
        **measurements,
    }


def run(
    folders: RunFolders,
    tables: list[str],
    contenders: list[str],
    budget_s: float,
    again: bool,
    describe: Callable[[Json], str] | None = None,
) -> None:
    """Run the contenders without a stored result; `describe` renders the line to print for each result."""
    stored = {} if again else result_log.read_results(folders.results)
    missing = [
        (table, contender)
        for table in tables
        for contender in contenders
        if (table, contender, budget_of(contender, budget_s)) not in stored
    ]
    with contextlib.ExitStack() as stack:
        client = (
            stack.enter_context(running_service(folders))
            if any(contender == LABCREW for _, contender in missing)
            else None
        )
        for table, contender in missing:
            facts = folders.facts(table)
            fit = _fit_with(folders, client, facts, contender, budget_s)
            result = run_contender(folders, facts, contender, budget_s, fit)
            result_log.append_result(folders.results, result)
            print((describe or describe_result)(result), flush=True)


def _fit_with(
    folders: RunFolders, client: LabcrewClient | None, facts: Json, contender: str, budget_s: float
) -> Fit:
    if client is not None and contender == LABCREW:
        return lambda: client.fit_and_predict(folders, facts, budget_s)
    return lambda: run_peer(folders, contender, facts["name"], budget_s)


def describe_result(result: Json) -> str:
    prefix = f"{result['table']} {result['contender']} {result['budget_s']:g} s:"
    if "failed" in result:
        return f"{prefix} {result['failed']}"
    return f"{prefix} {result['metric']} {result['score']:.5g}, {result['wall_s']:.0f} s, {result['note']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=DEFAULT_FOLDER)
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=[*CONTENDERS])
    parser.add_argument("--budget", type=float, default=60)
    parser.add_argument("--peers-budget", type=float, help="Compare with peers at this budget.")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--json", type=Path, help="Write the results there too.")
    options = parser.parse_args()
    folders = RunFolders(options.home.resolve())
    tables = options.tables or sorted(path.name for path in folders.tables.iterdir())
    if not options.show:
        run(folders, tables, options.contenders, options.budget, options.again)
    peers_budget_s = options.peers_budget or options.budget
    rows = result_log.results_by_budget(
        result_log.read_results(folders.results).values(), options.budget, peers_budget_s
    )
    rows = {table: rows[table] for table in tables if table in rows}
    print(render_results(rows, options.budget, peers_budget_s))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
