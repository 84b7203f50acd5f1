"""Labcrew against other tools on public tables, judged on rows that nobody saw.

    python -m benchmarks.quality.run [--tables NAME ...] [--contenders NAME ...] [--budget 60]

Results are kept, and what is there is not run again unless `--again` is said: a run can be made in parts.
`--show` prints what is there and runs nothing.
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
from benchmarks.quality import ledger
from benchmarks.quality.home import DEFAULT, Home, Json
from benchmarks.quality.judge import judge
from benchmarks.quality.ours import Ours, service
from benchmarks.quality.peers import MODULES, run_peer
from benchmarks.quality.show import show
from benchmarks.quality.standing import OURS

WITHOUT_BUDGET = {"naive", "skrub"}
CONTENDERS = (*MODULES, OURS)

Attempt = Callable[[], tuple[pd.DataFrame, Json]]


def budget_of(contender: str, budget_s: float) -> float:
    return 0.0 if contender in WITHOUT_BUDGET else budget_s


def result_of(home: Home, facts: Json, contender: str, budget_s: float, attempt: Attempt) -> Json:
    """The result of one attempt; a contender that fails is a result too."""
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
        prediction, said = attempt()
        judged = judge(home.table(facts["name"]), prediction, facts)
    except (RuntimeError, ValueError, KeyError) as error:
        return {**result, "failed": f"{type(error).__name__}: {error}", "wall_s": time.monotonic() - started}
    return {**result, "score": judged.score, "error": judged.error, "draws": judged.draws, **said}


def run(
    home: Home,
    tables: list[str],
    contenders: list[str],
    budget_s: float,
    again: bool,
    describe: Callable[[Json], str] | None = None,
) -> None:
    """Run what is missing; `describe`: the line that is printed of each result."""
    done = {} if again else ledger.read(home.results)
    wanted = [
        (table, contender)
        for table in tables
        for contender in contenders
        if (table, contender, budget_of(contender, budget_s)) not in done
    ]
    with contextlib.ExitStack() as stack:
        ours = stack.enter_context(service(home)) if any(each == OURS for _, each in wanted) else None
        for table, contender in wanted:
            facts = home.facts(table)
            attempt = _attempt(home, ours, facts, contender, budget_s)
            result = result_of(home, facts, contender, budget_s, attempt)
            ledger.append(home.results, result)
            print((describe or describe_result)(result), flush=True)


def _attempt(home: Home, ours: Ours | None, facts: Json, contender: str, budget_s: float) -> Attempt:
    if ours is not None and contender == OURS:
        return lambda: ours.run(home, facts, budget_s)
    return lambda: run_peer(home, contender, facts["name"], budget_s)


def describe_result(result: Json) -> str:
    what = f"{result['table']} {result['contender']} {result['budget_s']:g} s:"
    if "failed" in result:
        return f"{what} {result['failed']}"
    return f"{what} {result['metric']} {result['score']:.5g}, {result['wall_s']:.0f} s, {result['note']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=DEFAULT)
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=[*CONTENDERS])
    parser.add_argument("--budget", type=float, default=60)
    parser.add_argument("--peers-budget", type=float, help="Compare with peers at this budget.")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--json", type=Path, help="Write the results there too.")
    given = parser.parse_args()
    home = Home(given.home.resolve())
    tables = given.tables or sorted(path.name for path in home.tables.iterdir())
    if not given.show:
        run(home, tables, given.contenders, given.budget, given.again)
    peers_budget_s = given.peers_budget or given.budget
    rows = ledger.scores(ledger.read(home.results).values(), given.budget, peers_budget_s)
    rows = {table: rows[table] for table in tables if table in rows}
    print(show(rows, given.budget, peers_budget_s))
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
