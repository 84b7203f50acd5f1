"""Overrun of time budgets by sessions, and the seconds of each step and call.

    python -m benchmarks.clock.run [--rows 300000] [--budgets 20 60] [--tables titanic large]

Sessions run one after the other through the API of a service of their own, report included.
"""

import argparse
import os
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.clock.tables import large, titanic

from app.cli.api_client.client import LabClient
from app.cli.connection.service_connection import connected
from app.settings import load_settings

GOALS = {"titanic": "Predict which passengers survived.", "large": "Predict who bought."}
TARGETS = {"titanic": "survived", "large": "bought"}


def seconds(earlier: str, later: str) -> float:
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


def run_session(client: LabClient, table: str, dataset: str, budget_s: float) -> dict[str, Any]:
    """Run one session to its end, and return its view."""
    preferences = {"time_budget_s": budget_s, "clarify": "never", "seed": 1, "target": TARGETS[table]}
    session_id = client.create_session(GOALS[table], [dataset], preferences)
    for _ in client.events(session_id):
        pass
    return client.session(session_id).to_json()


def step_lines(steps: list[dict[str, Any]], cpu_s: dict[int, float]) -> Iterator[str]:
    """A line for each step: its seconds, those of its cells' CPU, and of calls that took longer than 50 ms."""
    before = None
    for step in steps:
        duration_s = seconds(before or step["started_at"], step["committed_at"])
        before = step["committed_at"]
        calls = [
            f"{call['name']} {call['duration_ms'] / 1000:.2f}"
            for call in step["calls"]
            if call["duration_ms"] > 50
        ]
        cpu = cpu_s.get(step["step"], 0.0)
        yield f"  {step['node']:<22}{duration_s:7.2f} s {cpu:7.2f} CPU   {', '.join(calls)}"


def print_session(client: LabClient, table: str, budget_s: float, session: dict[str, Any]) -> None:
    duration_s = seconds(session["started_at"], session["ended_at"])
    load = os.getloadavg()[0]
    overrun = duration_s / budget_s - 1
    print(
        f"{table}, {budget_s:g} s: {session['status']} in {duration_s:.2f} s ({overrun:+.0%}), load {load:.1f}"
    )
    if session["error"]:
        print(f"  {session['error']}")
    usage = session["usage"]
    cpu_s: dict[int, float] = {}
    for part in usage["breakdown"]:
        cpu_s[part["step"]] = cpu_s.get(part["step"], 0.0) + part["cpu_s"]
    for line in step_lines([step.to_json() for step in client.steps(session["id"])], cpu_s):
        print(line)
    largest = usage["peak_memory_bytes"] >> 20
    print(f"  {usage['cells']} cells, {usage['cpu_s']:.1f} s of CPU, the largest {largest} MiB")
    for fit in client.results(session["id"])["candidates"]:
        if fit["started_at"] and fit["ended_at"]:
            since = seconds(session["started_at"], fit["started_at"])
            duration_s = seconds(fit["started_at"], fit["ended_at"])
            print(f"    fit {fit['name']:<24}{fit['status']:<9} at {since:6.2f} s for {duration_s:6.2f} s")
    board = (session["result"] or {}).get("leaderboard", [])
    print("  " + ", ".join(f"{row['name']} {row['score']:.4g}" for row in board if row["score"] is not None))


def main(tables: list[str], rows: int, budgets: list[float]) -> None:
    with tempfile.TemporaryDirectory(prefix="labcrew-clock-") as folder:
        settings = load_settings(labcrew_home=Path(folder) / "home", api_port=0)
        with connected(settings, None, None, print) as client:
            for table in tables:
                path = titanic() if table == "titanic" else large(Path(folder), rows)
                dataset = client.upload(path).id
                for budget_s in budgets:
                    print_session(client, table, budget_s, run_session(client, table, dataset, budget_s))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--budgets", type=float, nargs="+", default=[20.0, 60.0])
    parser.add_argument("--tables", nargs="+", choices=sorted(GOALS), default=["titanic", "large"])
    options = parser.parse_args()
    main(options.tables, options.rows, options.budgets)
