"""Cost of what the service refuses: `python -m benchmarks.bounds.run`.

Through the real API, one after the other: a program's result that is too deep, a gzip bomb, a workbook that is
one, a table of a million columns, and 60 long goals at once while a neighbour reads. Each line says what was
refused, and the processors' and the clock's seconds of the service for it.
"""

import asyncio
import gzip
import json
import statistics
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks.client import Client
from benchmarks.service import STEPS, Load, Service, service, sign_in

API = "/api/v1"
SESSIONS = f"{API}/lab/agent/sessions"
LEVELS = 65
"""Levels of arrays in the result of a program, one more than the bound."""
UNPACKED_BYTES = 1 << 30
"""Zeros in each bomb, which compress to a thousandth."""
COLUMNS = 1_000_000
"""Columns of the wide table, a hundred times the bound."""
GOALS = 60
"""Goals that one user sends at once."""
GOAL_CLAUSES = 90
"""Clauses of each goal: about 4,000 characters."""
NEIGHBOUR_REQUESTS = 200
"""Requests of the neighbour, alone and beside the goals."""

Attempt = Callable[[Client], Awaitable[object]]


async def post_program(client: Client) -> object:
    return await client.call("POST", f"{API}/runs?wait=60", {"language": "python", "code": "result = 1"})


async def post_deep_result(client: Client) -> object:
    code = f"result = 1\nfor _ in range({LEVELS}):\n    result = [result]"
    run = await client.call("POST", f"{API}/runs?wait=60", {"language": "python", "code": code})
    raise RuntimeError(json.dumps(run["error"]) if run.get("error") else f"it ended as {run['status']}")


def post_file(path: Path) -> Attempt:
    async def post(client: Client) -> object:
        return await client.send_file(f"{API}/datasets?filename={path.name}", path)

    return post


def write_gzip_bomb(path: Path) -> Path:
    with gzip.open(path, "wb", compresslevel=6) as file:
        file.write(b"a,b\n")
        for _ in range(UNPACKED_BYTES >> 20):
            file.write(b"0" * (1 << 20))
    return path


def write_workbook_bomb(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            sheet.write(b"<worksheet><sheetData>")
            for _ in range(UNPACKED_BYTES >> 20):
                sheet.write(b" " * (1 << 20))
    return path


def write_wide_table(path: Path) -> Path:
    path.write_text(",".join(f"c{n}" for n in range(COLUMNS)) + "\n" + ",".join("1" * COLUMNS) + "\n")
    return path


async def measure(running: Service, token: str, name: str, attempt: Attempt) -> None:
    """Print what an attempt was answered, and its cost."""
    client = await Client.connect(running.port, token)
    started, used_s = time.perf_counter(), cpu_s(running)
    try:
        await attempt(client)
        answer = "NOT REFUSED"
    except RuntimeError as refusal:
        answer = f"refused: {str(refusal)[:150]}"
    wall_s = time.perf_counter() - started
    client.close()
    print(f"{name}: {cpu_s(running) - used_s:.2f} s of processors, {wall_s:.2f} s; {answer}", flush=True)


def cpu_s(running: Service) -> float:
    return running.cpu_s("api") + running.cpu_s("steps")


async def read_as_neighbour(client: Client, is_done: Callable[[], bool]) -> list[float]:
    """Milliseconds of requests, one after the other, until enough were sent and `is_done` says so."""
    latencies_ms: list[float] = []
    while len(latencies_ms) < NEIGHBOUR_REQUESTS or not is_done():
        started = time.perf_counter()
        await client.call("GET", SESSIONS)
        latencies_ms.append(1e3 * (time.perf_counter() - started))
        await asyncio.sleep(0.005)
    return latencies_ms


async def send_goals(running: Service, token: str, table: Path) -> None:
    """Send all goals at once while a neighbour reads; print what was taken, and the neighbour's time."""
    neighbour = await Client.connect(running.port, await sign_in(running.port))
    client = await Client.connect(running.port, token)
    dataset = (await client.send_file(f"{API}/datasets?filename={table.name}", table))["id"]
    client.close()
    unloaded_ms = await read_as_neighbour(neighbour, lambda: True)
    answers: Counter[str] = Counter()
    clauses = (f"and not where amount is above {n}" for n in range(GOAL_CLAUSES))
    goal = f"Predict amount by region, {', '.join(clauses)}"

    async def send() -> None:
        connection = await Client.connect(running.port, token)
        try:
            await connection.call("POST", SESSIONS, {"goal": goal, "dataset_ids": [dataset]})
            answers["accepted"] += 1
        except RuntimeError as refusal:
            answers[str(refusal).partition("'code': '")[2].partition("'")[0] or str(refusal)[:80]] += 1
        connection.close()

    started, used_s = time.perf_counter(), cpu_s(running)
    sending = asyncio.gather(*(send() for _ in range(GOALS)))
    loaded_ms = await read_as_neighbour(neighbour, sending.done)
    await sending
    wall_s = time.perf_counter() - started
    neighbour.close()
    counts = ", ".join(f"{count} {answer}" for answer, count in answers.items())
    print(f"{GOALS} goals of {len(goal):,} characters: {cpu_s(running) - used_s:.2f} s of processors,"
          f" {wall_s:.2f} s; {counts}")  # fmt: skip
    print(f"  a neighbour's request: {_describe(loaded_ms)}, alone {_describe(unloaded_ms)};"
          f" {statistics.median(loaded_ms) / statistics.median(unloaded_ms):.1f} times")  # fmt: skip


def _describe(latencies_ms: list[float]) -> str:
    p99 = statistics.quantiles(latencies_ms, n=100)[98]
    return f"median {statistics.median(latencies_ms):.1f} ms, p99 {p99:.1f}"


async def report(running: Service, folder: Path) -> None:
    token = await sign_in(running.port)
    table = folder / "orders.csv"
    table.write_text("region,amount\n" + "north,10\nsouth,20\n" * 200)
    # The first of each starts what the others find: the zygote, and the libraries that programs use.
    for _ in range(2):
        await measure(running, token, "nothing wrong: a file of 200 rows", post_file(table))
        await measure(running, token, "nothing wrong: a program", post_program)
    await measure(running, token, f"a result of {LEVELS} levels", post_deep_result)
    for name, path in {
        "a gzip bomb": write_gzip_bomb(folder / "bomb.csv.gz"),
        "a workbook bomb": write_workbook_bomb(folder / "bomb.xlsx"),
        f"{COLUMNS:,} columns": write_wide_table(folder / "wide.csv"),
    }.items():
        await measure(running, token, f"{name} ({path.stat().st_size:,} bytes)", post_file(path))
    await send_goals(running, token, table)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="labcrew-bench-") as folder, service() as running, Load() as load:
        running.start("steps", STEPS)
        asyncio.run(report(running, Path(folder)))
    print(f"load: {load.summary}")


if __name__ == "__main__":
    main()
