"""How soon 1,000 open sockets hear of an event: `python -m benchmarks.sessions.sockets [--sockets 1000]`.

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
from benchmarks.sessions.bare_sockets import floor
from benchmarks.sessions.watcher_socket import Socket

from app.db.pool import Database

_SESSIONS = "/api/v1/lab/agent/sessions"
_AT_ONCE = 20
_QUIET_S = 10.0
_BYTES = 330
"""Of an event as a frame."""
_ROWS = "select session_id::text, array_agg(n order by n) as numbers from events group by 1"


async def make_sessions(port: int, token: str, count: int) -> list[str]:
    wanted: dict[str, object] = {"goal": "be watched"}
    client = await Client.connect(port, token)
    return [str((await client.call("POST", _SESSIONS, wanted))["id"]) for _ in range(count)]


async def open_sockets(port: int, token: str, sessions: Sequence[str]) -> list[Socket]:
    opened: list[Socket] = []
    for first in range(0, len(sessions), _AT_ONCE):
        batch = sessions[first : first + _AT_ONCE]
        opened += await asyncio.gather(*(Socket.connect(port, session, token) for session in batch))
    return opened


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


async def all_came(sockets: Sequence[Socket], each: int, within_s: float = 15.0) -> None:
    """Waits until no socket lacks an event, or for so long."""
    until = time.monotonic() + within_s
    while time.monotonic() < until and any(_numbered(one) < each for one in sockets):  # noqa: ASYNC110
        await asyncio.sleep(0.1)


def _numbered(one: Socket) -> int:
    return sum(piece.count(b'{"seq":') for _, piece in one.heard)


def delays_ms(sockets: Sequence[Socket]) -> list[float]:
    """Of every event that came to every socket; one that came by the rows is told from its own time."""
    found = []
    ahead_ns = time.time_ns() - time.monotonic_ns()
    for one in sockets:
        for at, event in one.events():
            if event.get("kind") != "message":
                continue
            stamp, said = event["role"], datetime.fromisoformat(event["created_at"]).timestamp()
            made = int(stamp) if stamp.isdigit() else said * 1e9 - ahead_ns
            found.append((at - made) / 1e6)
    return found


def lost(sockets: Sequence[tuple[str, Socket]], rows: dict[str, list[int]]) -> int:
    """Events that are rows and did not come exactly once and in order."""
    wrong = 0
    for session, one in sockets:
        came = [event["seq"] for _, event in one.events() if "seq" in event]
        if came != rows[session]:
            wrong += max(1, len(set(rows[session]) ^ set(came)))
    return wrong


async def case(
    running: Service, token: str, name: str, sessions: Sequence[str], rounds: int, rate: float, goal_ms: float
) -> None:
    began, opening = time.perf_counter(), running.cpu_s("api")
    sockets = await open_sockets(running.port, token, sessions)
    took_s, cost_s = time.perf_counter() - began, running.cpu_s("api") - opening
    quiet, since = running.cpu_s("api"), time.perf_counter()
    await asyncio.sleep(_QUIET_S)
    idle = (running.cpu_s("api") - quiet) / (time.perf_counter() - since)
    before = running.cpu_s("api")
    different = list(dict.fromkeys(sessions))
    with Load() as load:
        summary = await publish_events(running, rounds, rate, different)
        await all_came(sockets, rounds)
    spent = running.cpu_s("api") - before
    db = await Database.open(running.database_url)
    rows: dict[str, list[int]] = defaultdict(list)
    rows.update({row["session_id"]: row["numbers"] for row in await db.rows(_ROWS)})
    await db.close()
    wrong = lost(list(zip(sessions, sockets, strict=True)), rows)
    delays = sorted(delays_ms(sockets))
    cuts = statistics.quantiles(delays, n=1000)
    print(f"{name}: {len(sockets):,} sockets, {summary['made']:,} events, {rate:g} a second")
    print(f"  {len(delays):,} deliveries: median {cuts[499]:.1f} ms, p99 {cuts[989]:.1f} (goal {goal_ms:g}),")
    each_us = 1e6 * spent / len(delays)
    print(f"    p99.9 {cuts[998]:.1f}, most {delays[-1]:.1f}; {each_us:.0f} us of the API's CPU each")
    print(f"  lost, doubled or out of order: {wrong}; closed: {sum(one.gone for one in sockets)}")
    print(f"  opening one: {1e3 * took_s / len(sockets):.1f} ms, {1e3 * cost_s / len(sockets):.1f} of CPU")
    print(f"  the API while nothing happens: {idle:.3f} of a processor, {running.memory_mb('api'):.0f} MB")
    print(f"  load: {load.said}", flush=True)
    for one in sockets:
        one.close()
    await asyncio.sleep(2)  # until the API has noticed


async def report(running: Service, sockets: int, events: int, only: str) -> None:
    token = await sign_in(running.port)
    if only in ("", "broadcast"):
        shared = await make_sessions(running.port, token, 1)
        await case(running, token, "one session", shared * sockets, events, 5, 25)
        median, p99 = await floor(sockets, events // 2, 5, _BYTES)
        print(f"  uvloop alone, {_BYTES} bytes to each of {sockets:,}: median {median:.1f} ms, p99 {p99:.1f}")
    if only in ("", "own"):
        own = await make_sessions(running.port, token, sockets - 1)
        await case(running, token, "each its own", own, max(2, events // 10), 200, 8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sockets", type=int, default=1000)
    parser.add_argument("--events", type=int, default=100)
    parser.add_argument("--only", choices=("broadcast", "own"), default="")
    given = parser.parse_args()
    gc.disable()  # this process is the clients of all sockets, which have no pauses of each other's
    with service(MAX_CONCURRENT_SESSIONS="0") as running:
        uvloop.run(report(running, given.sockets, given.events, given.only))


if __name__ == "__main__":
    main()
