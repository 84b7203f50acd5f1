"""Delay of events at 1,000 open sockets: `python -m benchmarks.sessions.sockets [--sockets 1000]`.

Once all of them watch one session, and each event goes to everybody; once each watches a session of its own,
and events come for all sessions evenly. One API process, with its limits. From the row's commit in another
process to the bytes in the client's; then what came is compared with the rows.
"""

import argparse
import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import uvloop
from benchmarks.client import Client
from benchmarks.service import ROOT, Load, Service, service, sign_in
from benchmarks.sessions.bare_sockets import measure_floor
from benchmarks.sessions.watcher_socket import Socket

from app.db.pool import Database

_SESSIONS = "/api/v1/lab/agent/sessions"
_BATCH = 20
"""Sockets that are opened at once."""
_QUIET_S = 10.0
_BYTES = 330
"""Of an event as a frame."""
_ROWS = "select session_id::text, array_agg(n order by n) as numbers from events group by 1"


async def make_sessions(port: int, token: str, count: int) -> list[str]:
    request: dict[str, object] = {"goal": "be watched"}
    client = await Client.connect(port, token)
    return [str((await client.call("POST", _SESSIONS, request))["id"]) for _ in range(count)]


async def open_sockets(port: int, token: str, sessions: Sequence[str]) -> list[Socket]:
    sockets: list[Socket] = []
    for start in range(0, len(sessions), _BATCH):
        batch = sessions[start : start + _BATCH]
        sockets += await asyncio.gather(*(Socket.connect(port, session, token) for session in batch))
    return sockets


async def publish_events(running: Service, rounds: int, rate: float, sessions: Sequence[str]) -> dict[str, Any]:
    """Publish events from a process of its own, as a driver is."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.sessions.event_source",
        cwd=ROOT, env={**os.environ, **running.environment},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    output, _ = await process.communicate(json.dumps([rounds, rate, *sessions]).encode() + b"\n")
    if process.returncode:
        raise RuntimeError("the source of events failed")
    summary: dict[str, Any] = json.loads(output)
    return summary


async def wait_for_events(sockets: Sequence[Socket], event_count: int, within_s: float = 15.0) -> None:
    """Wait until no socket lacks an event, or until the time is over."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline and any(_count_events(socket) < event_count for socket in sockets):  # noqa: ASYNC110
        await asyncio.sleep(0.1)


def _count_events(socket: Socket) -> int:
    return sum(piece.count(b'{"seq":') for _, piece in socket.pieces)


def delays_ms(sockets: Sequence[Socket]) -> list[float]:
    """Delays of all events at all sockets; events that were read from rows count from their creation."""
    delays = []
    ahead_ns = time.time_ns() - time.monotonic_ns()
    for socket in sockets:
        for at, event in socket.events():
            if event.get("kind") != "message":
                continue
            stamp, created_s = event["role"], datetime.fromisoformat(event["created_at"]).timestamp()
            sent_ns = int(stamp) if stamp.isdigit() else created_s * 1e9 - ahead_ns
            delays.append((at - sent_ns) / 1e6)
    return delays


def count_mismatches(sockets: Sequence[tuple[str, Socket]], rows: dict[str, list[int]]) -> int:
    """Count stored events that did not arrive exactly once and in order."""
    mismatches = 0
    for session, socket in sockets:
        received = [event["seq"] for _, event in socket.events() if "seq" in event]
        if received != rows[session]:
            mismatches += max(1, len(set(rows[session]) ^ set(received)))
    return mismatches


async def case(
    running: Service, token: str, name: str, sessions: Sequence[str], rounds: int, rate: float, goal_ms: float
) -> None:
    started, opening = time.perf_counter(), running.cpu_s("api")
    sockets = await open_sockets(running.port, token, sessions)
    duration_s, cost_s = time.perf_counter() - started, running.cpu_s("api") - opening
    quiet_cpu_s, quiet_started = running.cpu_s("api"), time.perf_counter()
    await asyncio.sleep(_QUIET_S)
    idle = (running.cpu_s("api") - quiet_cpu_s) / (time.perf_counter() - quiet_started)
    before = running.cpu_s("api")
    distinct_sessions = list(dict.fromkeys(sessions))
    with Load() as load:
        summary = await publish_events(running, rounds, rate, distinct_sessions)
        await wait_for_events(sockets, rounds)
    cpu_s = running.cpu_s("api") - before
    db = await Database.open(running.database_url)
    rows: dict[str, list[int]] = defaultdict(list)
    rows.update({row["session_id"]: row["numbers"] for row in await db.rows(_ROWS)})
    await db.close()
    mismatches = count_mismatches(list(zip(sessions, sockets, strict=True)), rows)
    delays = sorted(delays_ms(sockets))
    cut_points = statistics.quantiles(delays, n=1000)
    median_ms, p99_ms = cut_points[499], cut_points[989]
    print(f"{name}: {len(sockets):,} sockets, {summary['made']:,} events, {rate:g} a second")
    print(f"  {len(delays):,} deliveries: median {median_ms:.1f} ms, p99 {p99_ms:.1f} (goal {goal_ms:g}),")
    delivery_us = 1e6 * cpu_s / len(delays)
    print(f"    p99.9 {cut_points[998]:.1f}, most {delays[-1]:.1f}; {delivery_us:.0f} us of the API's CPU each")
    print(
        f"  lost, doubled or out of order: {mismatches}; closed: {sum(socket.is_closed for socket in sockets)}"
    )
    print(f"  opening one: {1e3 * duration_s / len(sockets):.1f} ms, {1e3 * cost_s / len(sockets):.1f} of CPU")
    print(f"  the API while nothing happens: {idle:.3f} of a processor, {running.memory_mb('api'):.0f} MB")
    print(f"  load: {load.summary}", flush=True)
    for socket in sockets:
        socket.close()
    await asyncio.sleep(2)  # until the API has noticed


async def report(running: Service, sockets: int, events: int, only: str) -> None:
    token = await sign_in(running.port)
    if only in ("", "broadcast"):
        shared = await make_sessions(running.port, token, 1)
        await case(running, token, "one session", shared * sockets, events, 5, 25)
        median, p99 = await measure_floor(sockets, events // 2, 5, _BYTES)
        print(f"  uvloop alone, {_BYTES} bytes to each of {sockets:,}: median {median:.1f} ms, p99 {p99:.1f}")
    if only in ("", "own"):
        sessions = await make_sessions(running.port, token, sockets - 1)
        await case(running, token, "each its own", sessions, max(2, events // 10), 200, 8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sockets", type=int, default=1000)
    parser.add_argument("--events", type=int, default=100)
    parser.add_argument("--only", choices=("broadcast", "own"), default="")
    options = parser.parse_args()
    gc.disable()  # this process is the clients of all sockets, which have no pauses of each other's
    with service(MAX_CONCURRENT_SESSIONS="0") as running:
        uvloop.run(report(running, options.sockets, options.events, options.only))


if __name__ == "__main__":
    main()
