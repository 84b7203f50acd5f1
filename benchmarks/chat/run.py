"""Times of turns: `python -m benchmarks.chat.run [--times 20] [--rows 1000000]`.

Against the service of `LABCREW_HOME` (started if none runs): from POST to `done` of a turn without any work,
of one aggregate over ten columns by `SQL:`, of a small program by `PYTHON:`, and of programs that change a
variable of 10 kB to 16 MB, which the turn stores; beside the query, DuckDB alone on the same rows with one
thread and the same memory, once held in memory and once read from a Parquet file, as a conversation reads its
tables. The table is made by a turn, so nothing is uploaded. All take turns, and each goes once before it is
measured: what others do meanwhile meets all alike.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
from benchmarks.service import Load

from app.cli.api_client.client import LabClient
from app.cli.connection.service_connection import connected
from app.settings import load_settings

COLUMNS = 10
CHANGED_BYTES = (10_000, 100_000, 900_000, 1_100_000, 4_000_000, 16_000_000)
"""Sizes of a changed variable, on both sides of 1 MB."""
MEMORY = "256MB"
"""Memory of a query of a conversation (`tools/conversations/queries.py`)."""


def make_rows(rows: int) -> str:
    values = ", ".join(f"(i * {number + 7} % 1009)::double as c{number}" for number in range(COLUMNS))
    return f"select {values} from range({rows}) as t(i)"


AGGREGATE = "select " + ", ".join(f"sum(c{number}) as c{number}" for number in range(COLUMNS)) + " from big"


def time_ms(works: Mapping[str, Callable[[], object]], times: int) -> dict[str, list[float]]:
    """Return the milliseconds of each work, in turns."""
    taken_ms: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(times + 1):
        for name, work in works.items():
            started = time.perf_counter()
            work()
            # The first prepares what is prepared once, such as the libraries of cells.
            if turn:
                taken_ms[name].append(1e3 * (time.perf_counter() - started))
    return taken_ms


def send(client: LabClient, thread: str | None, message: str) -> str:
    """Send a message and read its events to the last. Returns the turn."""
    body = {"message": message, **({"thread_id": thread} if thread else {})}
    turn = ""
    for _, event in client.chat(body):
        turn = str(event.get("turn_id") or turn)
    return turn


def run(client: LabClient, times: int, rows: int) -> None:
    table_turn = client.turn(send(client, None, f"SQL: create table big as {make_rows(rows)}"))
    if table_turn["failure"]:
        raise SystemExit(table_turn["failure"]["message"])
    thread = str(table_turn["thread_id"])
    database = duckdb.connect(config={"threads": 1, "memory_limit": MEMORY})
    database.execute(f"create table big as {make_rows(rows)}")
    query, bare, parquet = f"SQL: over {rows:,} rows", "DuckDB alone", "DuckDB on Parquet"
    with TemporaryDirectory(prefix="labcrew-chat-") as folder, Load() as load:
        file = Path(folder) / "big.parquet"
        database.execute(f"copy big to '{file}' (format parquet, compression zstd)")
        from_file = AGGREGATE.replace("from big", f"from '{file}'")
        taken_ms = time_ms(
            {
                "a greeting": lambda: send(client, thread, "hello"),
                query: lambda: send(client, thread, f"SQL: {AGGREGATE}"),
                bare: lambda: database.execute(AGGREGATE).fetchall(),
                parquet: lambda: database.execute(from_file).fetchall(),
                "PYTHON: result = 1": lambda: send(client, thread, "PYTHON: result = 1"),
                **{
                    f"PYTHON: {size / 1e6:g} MB changed": partial(
                        send, client, thread, f"PYTHON: changed = np.random.rand({size // 8})"
                    )
                    for size in CHANGED_BYTES
                },
            },
            times,
        )
    for name, values in taken_ms.items():
        print(f"{name:<28} median {statistics.median(values):8.1f} ms, worst {max(values):8.1f} ms")
    beside_ms = statistics.median(taken_ms[query]) - statistics.median(taken_ms[bare])
    print(f"the query beside DuckDB      median {beside_ms:8.1f} ms; {load.summary}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    with connected(load_settings(), None, None, print) as service:
        run(service, options.times, options.rows)
