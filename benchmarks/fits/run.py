"""A round of fits on one worker process and on two: `python -m benchmarks.fits.run [--fits 16]`.

Real fits on a table of 20,000 rows, one a time in each worker and one thread in each fit, through sessions of
the API: one with one compute worker, then one with two of them, in turns. From when the round is opened to
its last result. With two processors, two workers can be twice as fast at best.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.client import Client
from benchmarks.sandbox.predictions import table
from benchmarks.service import Load, Service, service, sign_in

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.preparation import split
from app.db.pool import Database
from app.storage.postgres import PostgresBlobs

_SESSIONS = "/api/v1/lab/agent/sessions"
_ROWS = 20_000
ROUNDS = 3
"""Pairs of runs with one and with two workers: their median ratio is printed."""
_WITHIN_S = 900
_ESTIMATOR = "LightGBM"

_ROUND = """
select extract(epoch from max(ended_at) - min(queued_at))::float8 as wall_s,
  sum(extract(epoch from ended_at - started_at))::float8 as fits_s,
  count(*) as fits, count(*) filter (where status = 'done' and runs = 1) as once
from fits where session_id = $1
"""


async def store_goal(running: Service, folder: Path, fits: int) -> str:
    """Store the table, and return a goal that the benchmark's graph parses."""
    table(_ROWS).to_parquet(folder / "table.parquet", index=False)
    locked: Any = split.split_table(
        CellWorkspace({"table": folder / "table.parquet"}, folder), {"target": "bought"}
    )
    db = await Database.open(running.database_url)
    frame = await PostgresBlobs(db.pool, folder / "blobs").put_file(folder / "train.parquet")
    await db.close()
    hyperparameters = [{"learning_rate": 0.02 + 0.002 * n} for n in range(fits)]
    goal = {
        "frame": frame.digest,
        "problem": locked["problem"],
        "folds": locked["folds"],
        "fits": hyperparameters,
        "estimator": _ESTIMATOR,
    }
    return json.dumps(goal)


async def run_round(running: Service, token: str, goal: str) -> dict[str, float]:
    client = await Client.connect(running.port, token)
    session = await client.call("POST", _SESSIONS, {"goal": goal})
    client.close()
    for _ in range(_WITHIN_S * 2):
        client = await Client.connect(running.port, token)
        view = await client.call("GET", f"{_SESSIONS}/{session['id']}")
        client.close()
        if view["ended_at"]:
            break
        await asyncio.sleep(0.5)
    if view["status"] != "completed":
        raise RuntimeError(view)
    db = await Database.open(running.database_url)
    row = await db.row(_ROUND, session["id"]) or {}
    await db.close()
    return dict(row)


async def measure(running: Service, folder: Path, fits: int, rounds: int) -> None:
    token = await sign_in(running.port)
    goal = await store_goal(running, folder, fits)
    small = json.dumps({**json.loads(goal), "fits": json.loads(goal)["fits"][:2]})
    ratios = []
    for _ in range(rounds):
        wall_times_s = {}
        for workers in (1, 2):
            for n in range(workers):
                running.start(f"compute {n}", "benchmarks.fits.worker compute")
            await run_round(running, token, small)  # their cells are up
            with Load() as load:
                row = await run_round(running, token, goal)
            wall_times_s[workers] = row["wall_s"]
            print(
                f"  {workers} of them: {row['wall_s']:6.1f} s for {row['fits']} fits of"
                f" {row['fits_s']:.1f} s together, {row['once']} done by their first run; {load.summary}",
                flush=True,
            )
            for n in range(workers):
                running.end(f"compute {n}")
        ratios.append(wall_times_s[1] / wall_times_s[2])
    print(f"two workers are {statistics.median(ratios):.2f} times as fast as one (goal 1.8)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="labcrew-bench-") as folder, service() as running:
        running.start("steps", "benchmarks.fits.worker steps")
        print(
            f"{options.fits} fits of {_ESTIMATOR} on {_ROWS:,} rows; workers that compute one at a time:",
            flush=True,
        )
        asyncio.run(measure(running, Path(folder), options.fits, options.rounds))


if __name__ == "__main__":
    main()
