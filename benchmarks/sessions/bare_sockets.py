"""The reference of a broadcast: a process of uvloop alone writes the same bytes to each of its connections.

`python -m benchmarks.sessions.bare_sockets sockets events rate bytes` is that server: it prints its port, waits
for all of its connections, and writes. `measure_floor` runs it and its clients.
"""

import asyncio
import statistics
import sys
import time

import uvloop
from benchmarks.service import ROOT

_STAMP_BYTES = 20
"""Decimal digits of a time in nanoseconds at the beginning of each message, padded with zeros."""


class _Connection(asyncio.Protocol):
    def __init__(self, served: list[asyncio.Transport]) -> None:
        self._served = served

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._served.append(transport)  # type: ignore[arg-type]  # a stream's


class _Client(asyncio.Protocol):
    def __init__(self, arrivals: list[tuple[int, bytes]]) -> None:
        self._arrivals = arrivals

    def data_received(self, data: bytes) -> None:
        self._arrivals.append((time.monotonic_ns(), data))


async def serve(sockets: int, events: int, rate: float, size: int) -> None:
    served: list[asyncio.Transport] = []
    server = await asyncio.get_running_loop().create_server(lambda: _Connection(served), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    while len(served) < sockets:  # noqa: ASYNC110 - no Event counts them
        await asyncio.sleep(0.1)
    for _ in range(events):
        await asyncio.sleep(1 / rate)
        frame = b"%0*d" % (_STAMP_BYTES, time.monotonic_ns()) + bytes(size - _STAMP_BYTES)
        for transport in served:
            transport.write(frame)
    await asyncio.sleep(1)


async def measure_floor(sockets: int, events: int, rate: float, size: int) -> tuple[float, float]:
    """Return median and 99th percentile of the milliseconds from the first write to each client's reading."""
    command = ["-m", "benchmarks.sessions.bare_sockets", *map(str, (sockets, events, rate, size))]
    server = await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert server.stdout is not None
    port = int(await server.stdout.readline())
    arrivals: list[tuple[int, bytes]] = []
    loop = asyncio.get_running_loop()
    for _ in range(sockets):
        await loop.create_connection(lambda: _Client(arrivals), "127.0.0.1", port)
    await server.wait()
    delays = [(at - int(data[:_STAMP_BYTES])) / 1e6 for at, data in arrivals]
    percentiles = statistics.quantiles(delays, n=100)
    return percentiles[49], percentiles[98]


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])))
