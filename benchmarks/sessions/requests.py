"""Cost of a plain request: `python -m benchmarks.sessions.requests [--seconds 4]`.

GET of one session, over and over, by eight clients: of one API with its limits on, and of one with none, on
the same servers, in turns. Requests a second, their time, and CPU seconds of the API for a thousand of them;
the floor beside them is `healthz`, which asks nobody.
"""

import argparse
import asyncio
import socket
import statistics
import time
from dataclasses import dataclass, field

import uvloop
from benchmarks.client import Client
from benchmarks.service import API, UNMETERED, Load, Service, service, sign_in

_SESSIONS = "/api/v1/lab/agent/sessions"
CLIENT_COUNT = 8
"""Clients that send at once."""
ROUND_COUNT = 5
"""Rounds of each case, in turns: their median is printed."""
_NO_LIMITS = dict.fromkeys(
    ("USER_REQUESTS", "ADDRESS_REQUESTS", "USER_UPLOADS", "USER_COMPUTE", "USER_SOCKETS"), "0"
)


@dataclass
class Tally:
    """Requests a second and CPU milliseconds of a request by round, and all latencies."""

    rates: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    latencies_ms: list[float] = field(default_factory=list)


async def ask(
    running: Service, name: str, port: int, token: str, path: str, seconds: float, tally: Tally
) -> None:
    clients = [await Client.connect(port, token) for _ in range(CLIENT_COUNT)]
    latencies_ms: list[float] = []
    deadline, before = time.perf_counter() + seconds, running.cpu_s(name)

    async def request_repeatedly(client: Client) -> None:
        while (started := time.perf_counter()) < deadline:
            await client.call("GET", path)
            latencies_ms.append(1e3 * (time.perf_counter() - started))
        client.close()

    await asyncio.gather(*(request_repeatedly(client) for client in clients))
    tally.rates.append(len(latencies_ms) / seconds)
    tally.cpu_ms.append(1e3 * (running.cpu_s(name) - before) / len(latencies_ms))
    tally.latencies_ms += latencies_ms


async def measure(running: Service, free_port: int, seconds: float) -> None:
    token = await sign_in(running.port)
    client = await Client.connect(running.port, token)
    session = await client.call("POST", _SESSIONS, {"goal": "be looked at"})
    client.close()
    path = f"{_SESSIONS}/{session['id']}"
    cases = {
        "healthz": ("api", running.port, "/api/v1/healthz"),
        "limits off": ("free", free_port, path),
        "limits on": ("api", running.port, path),
    }
    tallies = {name: Tally() for name in cases}
    await sign_in(free_port)
    for process, port, requested_path in cases.values():
        await ask(running, process, port, token, requested_path, 1.0, Tally())
    with Load() as load:
        for _ in range(ROUND_COUNT):
            for name, (process, port, requested_path) in cases.items():
                await ask(running, process, port, token, requested_path, seconds, tallies[name])
    print(
        f"GET of a session, {CLIENT_COUNT} clients, {ROUND_COUNT} rounds of {seconds:g} s each; {load.summary}"
    )
    for name, tally in tallies.items():
        percentiles = statistics.quantiles(tally.latencies_ms, n=100)
        rate, cpu_ms = statistics.median(tally.rates), statistics.median(tally.cpu_ms)
        print(f"  {name:<11} {rate:7.0f} requests/s, {cpu_ms:.2f} ms of the API's CPU each,", end="")
        print(f" answered in {percentiles[49]:.1f} ms, p99 {percentiles[98]:.1f}")
    on, off = tallies["limits on"], tallies["limits off"]
    ratio = statistics.median(
        limited / unlimited for limited, unlimited in zip(on.rates, off.rates, strict=True)
    )
    cpu = statistics.median(
        limited / unlimited for limited, unlimited in zip(on.cpu_ms, off.cpu_ms, strict=True)
    )
    print(f"  limits on over off: {ratio:.2f} times the requests, {cpu:.2f} times the CPU")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0)
    options = parser.parse_args()
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with service(**UNMETERED) as running:
        running.start("free", API, API_PORT=str(port), **_NO_LIMITS)
        uvloop.run(measure(running, port, options.seconds))


if __name__ == "__main__":
    main()
