"""Start of a zygote: this interpreter by exec, with an environment that holds no secret."""

import asyncio
import os
import socket
import subprocess
from pathlib import Path
from typing import NoReturn

from app.sandbox.kernel.served_process import ServedProcess

RETRY_S = 0.1
"""Seconds between attempts to connect: a zygote starts in 3 to 5 s."""
_EXIT_WAIT_S = 5
"""Seconds that a zygote has to end by itself before it is killed."""
_BACKLOG = 64
"""Connections of clients, one for each process of the service, that may wait while the zygote starts."""
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/nonexistent",
    "TZ": "UTC",
    # Sets of strings have the same order in every zygote, so equal inputs give equal results.
    "PYTHONHASHSEED": "0",
    "MPLBACKEND": "Agg",
    # One thread, so that forks of the zygote are sound; a cell raises the count for itself.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # A thread that waits for its like sleeps instead of spinning: beside other work on two processors a fit on
    # two threads took 0.8 s so, and 2.7 s (0.9 to 14) when its threads kept each other off the processors.
    "OMP_WAIT_POLICY": "PASSIVE",
    # scikit-learn's `n_jobs` would ask for semaphores in /dev/shm, which no cell has.
    "JOBLIB_MULTIPROCESSING": "0",
    # jemalloc's background thread would be the zygote's second one.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    # Arenas are reserved per thread and would use up a cell's address space.
    "MALLOC_ARENA_MAX": "4",
}


async def start_own_zygote(cache: Path, tier: str) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Start a zygote for this client alone.

    On the event loop's own thread, for a millisecond: the kernel's parent-death signal follows the thread, so a
    child of a pool's thread might end with that thread.
    """
    return _zygote(cache, tier).start()


async def connect_shared_zygote(path: Path) -> tuple[socket.socket, None]:
    """Connect to the host's zygote, with retries while its supervisor restarts it."""
    while True:
        try:
            return connect(path), None
        except (FileNotFoundError, ConnectionRefusedError):
            await asyncio.sleep(RETRY_S)


def connect(path: Path) -> socket.socket:
    """Connect to the zygote that listens at `path`, which may be longer than the 107 bytes of a socket name."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        # A short name for a folder of any depth: the kernel resolves the descriptor.
        connection.connect(f"/proc/self/fd/{folder}/{path.name}")
    except OSError:
        connection.close()
        raise
    finally:
        os.close(folder)
    connection.setblocking(False)
    return connection


def become_server(path: Path, cache: Path, tier: str = "best", lifeline: bool = False) -> NoReturn:
    """Turn this process into the host's zygote, listening at `path` (short, in a private folder).

    It ends with the process that started it; with `lifeline`, when its standard input ends.
    """
    _zygote(cache, tier, *(["lifeline"] if lifeline else [])).become(path)


def _zygote(cache: Path, tier: str, *options: str) -> ServedProcess:
    arguments = (str(cache.absolute()), tier, *options)
    module = "app.sandbox.zygote.process"
    return ServedProcess(module, arguments, _environment(cache), socket.SOCK_SEQPACKET, _BACKLOG)


def _environment(cache: Path) -> dict[str, str]:
    cache.mkdir(parents=True, exist_ok=True)
    return {**_ENVIRONMENT, "MPLCONFIGDIR": str(cache.absolute())}


def reap(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end of the process; kill it if that does not come."""
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(_EXIT_WAIT_S)
    except subprocess.TimeoutExpired:
        process.kill()  # its cells end with it: die_with_parent
        process.wait()
