"""A pipe in an output folder: what a cell writes there is read while it computes, and never lies on a disk."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from app.json_types import JsonValue

_BUFFER_BYTES = 1 << 20


@dataclass(frozen=True)
class OutputStream:
    """`pipe`: what the cell writes; it ends with the cell. `ended`: what the computation returns or raises."""

    pipe: asyncio.StreamReader
    completion: "asyncio.Task[JsonValue]"


@asynccontextmanager
async def stream_output(path: Path, compute: Coroutine[None, None, JsonValue]) -> AsyncIterator[OutputStream]:
    """Await `compute` with a named pipe at `path`; who leaves the block early cancels it."""
    reading, held = _open_pipe(path)
    reader = asyncio.StreamReader(_BUFFER_BYTES)
    ended = asyncio.ensure_future(compute)
    ended.add_done_callback(lambda _: held.close())
    try:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), reading
        )
        try:
            yield OutputStream(reader, ended)
        finally:
            transport.close()
    finally:
        ended.cancel()
        await asyncio.wait([ended])
        if not ended.cancelled():
            ended.exception()  # somebody has seen it


def _open_pipe(path: Path) -> tuple[IO[bytes], IO[bytes]]:
    """For reading, and one for writing that is only held: a pipe ends when the last one that writes is closed.

    Without it there would be no end for a cell that never opens the pipe, and a false one between two writers.
    """
    os.mkfifo(path)
    path.chmod(0o622)  # its folder is private; in a container its writer is another user
    reading = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb", buffering=0)
    held = os.fdopen(os.open(path, os.O_WRONLY | os.O_NOFOLLOW), "wb", buffering=0)
    with suppress(OSError):  # more than a user may have: it stays as large as it is
        fcntl.fcntl(reading, fcntl.F_SETPIPE_SZ, _BUFFER_BYTES)
    return reading, held
