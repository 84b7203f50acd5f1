"""Start of the service and of a question: `python -m benchmarks.start.run [--times 3]`.

A data folder is made first, with the first start ever. Then `labcrew up` until it is ready, and `labcrew run`
with a question, from nothing running and beside a service, each beside the bare references of the same run:
`python -c pass`, and the embedded Postgres alone. Processors' seconds say more than the clock on a machine that
others use. At last the service is stopped while streams and sockets are open, and those that end in time are
counted.
"""

import argparse
import asyncio
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import websockets
from benchmarks.quality.resource_usage import cpu_s, process_tree
from benchmarks.service import Load, sign_in

from app.cli.connection.service_file import running_service
from app.servers.embedded import EmbeddedServers

PROGRAM = [sys.executable, "-m", "app.cli.program"]
QUESTION = "What is the total amount by region?"
READY = "Ctrl-C stops everything"

STREAMS = 20
"""Streams of events, and as many sockets, that are open when the service is stopped."""
GOAL_STREAMS_S = 5.0
"""Seconds from the signal to the end of every stream."""

Timing = tuple[float, float]
"""Seconds of the clock, and of processors."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    times: int = parser.parse_args().times
    with tempfile.TemporaryDirectory(prefix="labcrew-bench-") as folder, Load() as load:
        home, table = Path(folder) / "home", Path(folder) / "orders.csv"
        table.write_text("region,amount\nnorth,10\nsouth,20\nnorth,5\n")
        environment = {**os.environ, "LABCREW_HOME": str(home)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installation has its modules compiled
        question = [*PROGRAM, "run", str(table), QUESTION]
        print_figures("the first `up` ever", [start(environment)[0]])
        bare = print_figures("python -c pass", repeat(times, lambda: run([sys.executable, "-c", "pass"])))
        print_figures("bare Postgres", repeat(times, lambda: start_postgres(home)))
        starts = [start(environment) for _ in range(times)]
        print_figures("`up` until ready", [timing for timing, _ in starts], bare)
        print(starts[-1][1])
        print_figures("`run` from nothing running", repeat(times, lambda: run(question, environment)), bare)
        service = launch(environment)
        wait_until_ready(service)
        print_figures("`run` beside a service", repeat(times, lambda: run(question, environment)), bare)
        print(asyncio.run(count_ended_streams(service, home)))
        service.communicate()  # a second signal would keep it from stopping as it should
    print(load.summary)


def repeat(times: int, measure: Callable[[], Timing]) -> list[Timing]:
    return [measure() for _ in range(times)]


def print_figures(name: str, timings: list[Timing], reference: float | None = None) -> float:
    """Print the medians and the ratio to the reference; the median of processors' seconds."""
    clock_s, processor_s = (statistics.median(values) for values in zip(*timings, strict=True))
    ratio = f", {processor_s / reference:.0f} times `python -c pass`" if reference else ""
    print(f"{name}: {clock_s:.2f} s, {processor_s:.2f} s of processors{ratio}")
    return processor_s


def run(command: list[str], environment: dict[str, str] | None = None) -> Timing:
    """A command to its end, with all that it started and waited for."""
    began, usage = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    used_s = ended.ru_utime + ended.ru_stime - usage.ru_utime - usage.ru_stime
    return time.monotonic() - began, used_s


async def count_ended_streams(service: "subprocess.Popen[str]", home: Path) -> str:
    """Stop the service while streams and sockets of one user are open, and count those that end in time."""
    addresses = running_service(home)
    if addresses is None:
        raise SystemExit("The service ended before it was stopped.")
    port = urlsplit(addresses.api).port or 80
    token = await sign_in(port)
    ends: list[asyncio.Task[float]] = []
    for _ in range(STREAMS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = "GET /api/v1/events?lists=l HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer"
        writer.write(f"{head} {token}\r\n\r\n".encode())
        status = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in status.split(b"\r\n")[0]:
            raise SystemExit(status.decode())
        ends.append(asyncio.create_task(_stream_end(reader, writer)))
        socket = await websockets.connect(
            f"ws://127.0.0.1:{port}/api/v1/stream", additional_headers={"Authorization": f"Bearer {token}"}
        )
        ends.append(asyncio.create_task(_socket_end(socket)))
    began = time.monotonic()
    service.send_signal(signal.SIGINT)
    seconds = [ended - began for ended in await asyncio.gather(*ends)]
    in_time = sum(second <= GOAL_STREAMS_S for second in seconds)
    return (
        f"streams and sockets that ended within {GOAL_STREAMS_S:g} s of a stop: {in_time} of {len(seconds)},"
        f" the last after {max(seconds):.1f} s"
    )


async def _stream_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> float:
    while await reader.read(1 << 16):
        pass
    writer.close()
    return time.monotonic()


async def _socket_end(socket: websockets.ClientConnection) -> float:
    await socket.wait_closed()
    return time.monotonic()


def start_postgres(home: Path) -> Timing:
    servers = EmbeddedServers(home)
    began = time.monotonic()
    servers.start_postgres()
    timing = time.monotonic() - began, cpu_s([pid for pid in process_tree(os.getpid()) if pid != os.getpid()])
    servers.stop()
    return timing


def start(environment: dict[str, str]) -> tuple[Timing, str]:
    """`labcrew up` until it says that it is ready, with its own line about that."""
    began = time.monotonic()
    service = launch(environment)
    stages = wait_until_ready(service)
    timing = time.monotonic() - began, cpu_s(process_tree(service.pid))
    stop(service)
    return timing, stages


def launch(environment: dict[str, str]) -> "subprocess.Popen[str]":
    command = [*PROGRAM, "up", "--port", "0", "--verbose"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def wait_until_ready(service: "subprocess.Popen[str]") -> str:
    stages = ""
    for line in service.stdout or ():
        stages = line.rstrip() if "Ready in" in line else stages
        if READY in line:
            return stages
    raise SystemExit("The service ended before it was ready.")


def stop(service: "subprocess.Popen[str]") -> None:
    service.send_signal(signal.SIGINT)
    service.communicate()


if __name__ == "__main__":
    main()
