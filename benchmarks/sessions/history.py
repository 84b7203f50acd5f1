"""10,000 finished sessions: `python -m benchmarks.sessions.history [--sessions 10000]`.

One real session (a small table, offline, to its report) is run through the service; its rows are then copied
with new ids until the database holds as many sessions of one user, journals, events, artifacts and models
included, and as many datasets. Then one client lists and gets through the API, with the limits on; beside each
first page, in turn, the same rows are read by one bare indexed query. Every list is read to its end by `after`
and compared with the rows. At last how often Postgres read a table from its beginning meanwhile, and the plans
of the two statements of sessions.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.client import Client
from benchmarks.sandbox.predictions import table
from benchmarks.service import COMPUTE, STEPS, UNMETERED, Load, Service, service, sign_in

from app.db.pool import Database
from app.sessions import queries

_API = "/api/v1"
_SESSIONS = f"{_API}/lab/agent/sessions"
_GOAL_MS = 20
REQUEST_COUNT = 400
"""Sessions that are read one by one: enough for a 99th percentile."""
_WITHIN_S = 300
_PARTS = ("steps", "calls", "events", "messages", "rounds", "fits", "questions", "artifacts", "audit")
_COLUMNS = """
select column_name as name from information_schema.columns
where table_name = $1 and is_identity = 'NO' and coalesce(column_default, '') not like 'nextval%'
  and is_generated = 'NEVER'
"""
_BARE = {
    "sessions": "select * from sessions where owner_id = $1",
    "datasets": "select * from datasets where owner_id = $1",
    "models": "select * from artifacts where owner_id = $1 and kind = 'model'",
    "artifacts": "select * from artifacts where owner_id = $1",
}
"""The rows of a first page by one indexed query alone, as the reference of the list."""
_GOAL_RATIO = 4
_SCANS = "select relname, seq_scan, seq_tup_read from pg_stat_user_tables where n_live_tup > 1000"


async def run_session(running: Service, token: str, folder: Path) -> tuple[str, str]:
    """The ids of a dataset and of a session that has ended."""
    file = folder / "people.csv"
    table(600).to_csv(file, index=False)
    client = await Client.connect(running.port, token)
    dataset = (await client.send_file(f"{_API}/datasets?filename=people.csv", file))["id"]
    request: dict[str, object] = {
        "goal": "Predict bought.",
        "dataset_ids": [dataset],
        "preferences": {"target": "bought", "time_budget_s": 15, "clarify": "never"},
    }
    session = (await client.call("POST", _SESSIONS, request))["id"]
    deadline = time.monotonic() + _WITHIN_S
    while time.monotonic() < deadline:
        view = await client.call("GET", f"{_SESSIONS}/{session}")
        if view["ended_at"]:
            break
        await asyncio.sleep(1)
    client.close()
    if view["status"] != "completed":
        raise RuntimeError(view)
    return dataset, session


async def copy(db: Any, name: str, column_name: str, values: dict[str, str], template: str) -> None:
    """Rows of `template` again for each of `copies`, with these values in place of its own."""
    columns = [row["name"] for row in await db.fetch(_COLUMNS, name)]
    cells = ", ".join(values.get(column, f't."{column}"') for column in columns)
    names = ", ".join(f'"{column}"' for column in columns)
    rows = f"select {cells} from {name} t cross join copies where t.{column_name} = '{template}'"
    await db.execute(f"insert into {name} ({names}) {rows}")


async def fill(running: Service, dataset: str, session: str, sessions: int) -> None:
    database = await Database.open(running.database_url)
    async with database.dedicated_connection() as db:
        await db.execute(
            "create temp table copies as select gen_random_uuid() as id,"
            f" now() - (n * interval '1 minute') as at from generate_series(1, {sessions - 1}) n"
        )
        new = {"id": "gen_random_uuid()", "created_at": "copies.at", "idempotency_key": "null"}
        await copy(db, "sessions", "id", {**new, "id": "copies.id"}, session)
        await copy(db, "datasets", "id", new, dataset)
        for part in _PARTS:
            own = {"session_id": "copies.id"}
            await copy(db, part, "session_id", own | (new if part == "artifacts" else {}), session)
        await db.execute("vacuum analyze")
        await db.execute("checkpoint")  # or what was filled in is still being written while it is read
        size = await db.fetchval("select pg_size_pretty(pg_database_size(current_database()))")
        counts = [f"{await db.fetchval(f'select count(*) from {part}'):,} {part}" for part in _PARTS]
    await database.close()
    print(f"  {', '.join(counts)}; {size}", flush=True)


async def timed_get(client: Client, path: str, latencies_ms: list[float]) -> dict[str, Any]:
    started = time.perf_counter()
    answer = await client.call("GET", path)
    latencies_ms.append(1e3 * (time.perf_counter() - started))
    return answer


def print_latencies(name: str, latencies_ms: Sequence[float], note: str = "") -> None:
    p99 = statistics.quantiles(latencies_ms, n=100)[98]
    missed = "" if p99 < _GOAL_MS else "  MISSED"
    print(
        f"  {name:<34} median {statistics.median(latencies_ms):6.1f} ms  p99 {p99:6.1f}{missed}  {note}",
        flush=True,
    )


async def read_list(client: Client, name: str, path: str, expected: int) -> list[str]:
    """Read a list to its end by cursors, and return its ids."""
    latencies_ms: list[float] = []
    ids: list[str] = []
    mark, after = "&" if "?" in path else "?", ""
    while True:
        page = await timed_get(client, f"{path}{mark}limit=100{after}", latencies_ms)
        ids += [item["id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        after = f"&after={page['next_cursor']}"
    if len(ids) != expected or len(set(ids)) != expected:
        raise RuntimeError(f"{name}: {len(set(ids))} of {expected} came")
    print_latencies(
        f"{name}, 100 a page", latencies_ms, f"{len(ids):,} in {len(latencies_ms)} pages, each once"
    )
    return ids


async def read_all(running: Service, token: str, db: Database) -> None:
    client = await Client.connect(running.port, token)
    counts = await db.row(
        "select (select count(*) from sessions) as sessions, (select count(*) from datasets) as datasets,"
        " (select count(*) from artifacts) as artifacts,"
        " (select count(*) from artifacts where kind = 'model') as models"
    )
    lists = {
        "sessions": _SESSIONS,
        "datasets": f"{_API}/datasets",
        "models": f"{_API}/models",
        "artifacts": f"{_API}/artifacts",
    }
    owner = (await db.row("select owner_id from sessions limit 1") or {})["owner_id"]
    with Load() as load:
        for name, path in lists.items():
            first_page_ms: list[float] = []
            bare_ms: list[float] = []
            for _ in range(REQUEST_COUNT // 4):
                await timed_get(client, path, first_page_ms)
                started = time.perf_counter()
                await db.rows(f"{_BARE[name]} order by created_at desc, id limit 51", owner)
                bare_ms.append(1e3 * (time.perf_counter() - started))
            ratio = statistics.median(first_page_ms) / statistics.median(bare_ms)
            missed = "" if ratio < _GOAL_RATIO else "  MISSED"
            note = f"{ratio:.1f} times a bare query ({statistics.median(bare_ms):.1f} ms), goal {_GOAL_RATIO}"
            print_latencies(f"first page of {name} (50)", first_page_ms, note + missed)
        ids = await read_list(client, "sessions", _SESSIONS, counts["sessions"])  # type: ignore[index]
        for name in ("datasets", "models"):
            await read_list(client, name, lists[name], counts[name])  # type: ignore[index]
        last_page_ms: list[float] = []
        for _ in range(REQUEST_COUNT // 10):
            await timed_get(client, f"{_SESSIONS}?limit=100&offset={len(ids) - 100}", last_page_ms)
        print_latencies("the last page, by offset", last_page_ms)
        sampled_ids = random.Random(0).sample(ids, min(REQUEST_COUNT, len(ids)))
        for part in ("", "/messages", "/steps", "/artifacts", "/results", "/audit"):
            latencies_ms: list[float] = []
            for session in sampled_ids:
                await timed_get(client, f"{_SESSIONS}/{session}{part}", latencies_ms)
            print_latencies(f"get a session{part}", latencies_ms)
    client.close()
    print(f"  load: {load.summary}")


async def plans(db: Database, owner: object, session: object) -> None:
    for name, sql, args in (
        ("list", queries.SESSION_LISTS["newest"], (owner, None, "study", False, None, None, None, 51, 0, None)),
        ("get", queries.GET_SESSION, (session, owner, None)),
    ):
        lines = [
            row["QUERY PLAN"].strip() for row in await db.rows(f"explain (analyze, costs off) {sql}", *args)
        ]
        used = [line.partition(" (actual")[0].removeprefix("->  ") for line in lines if "Scan" in line]
        print(f"  {name}: {'; '.join(used)}; {lines[-1]}")


async def report(running: Service, sessions: int, folder: Path) -> None:
    token = await sign_in(running.port)
    for name, module in (("steps", STEPS), ("compute", COMPUTE)):
        running.start(name, module)
    dataset, session = await run_session(running, token, folder)
    for name in ("steps", "compute"):
        running.end(name)
    started = time.perf_counter()
    await fill(running, dataset, session, sessions)
    print(f"  filled in {time.perf_counter() - started:.0f} s", flush=True)
    db = await Database.open(running.database_url)
    before = {row["relname"]: row for row in await db.rows(_SCANS)}
    await read_all(running, token, db)
    await asyncio.sleep(1)  # a backend tells its counts at the end of a second
    for row in await db.rows(_SCANS):
        was = before.get(row["relname"])
        if was and row["seq_scan"] > was["seq_scan"]:
            print(f"  {row['relname']}: read from its beginning {row['seq_scan'] - was['seq_scan']} times")
    owner = (await db.row("select owner_id from sessions limit 1") or {})["owner_id"]
    await plans(db, owner, session)
    await db.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="labcrew-bench-") as folder, service(**UNMETERED) as running:
        print(f"{options.sessions:,} finished sessions of one user:", flush=True)
        asyncio.run(report(running, options.sessions, Path(folder)))


if __name__ == "__main__":
    main()
