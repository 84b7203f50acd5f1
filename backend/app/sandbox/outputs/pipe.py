"""Named pipe in an output folder: a cell's file is read while it is written, and never lies on a disk."""

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
"""Of the pipe and of its reader: 1 MiB is the most that an ordinary user may give a pipe on Linux."""


@dataclass(frozen=True)
class OutputStream:
    """Output of a running computation. `pipe`: its bytes, until the cell ends. `completion`: value or error."""

    pipe: asyncio.StreamReader
    completion: "asyncio.Task[JsonValue]"


@asynccontextmanager
async def stream_output(path: Path, compute: Coroutine[None, None, JsonValue]) -> AsyncIterator[OutputStream]:
    """Run `compute` with a named pipe at `path`. Leaving the block early cancels it."""
    read_end, write_end = _open_pipe(path)
    reader = asyncio.StreamReader(_BUFFER_BYTES)
    completion = asyncio.ensure_future(compute)
    completion.add_done_callback(lambda _: write_end.close())
    try:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), read_end
        )
        try:
            yield OutputStream(reader, completion)
        finally:
            transport.close()
    finally:
        completion.cancel()
        await asyncio.wait([completion])
        if not completion.cancelled():
            completion.exception()  # retrieved, so that asyncio does not log it: the caller awaited it or left


def _open_pipe(path: Path) -> tuple[IO[bytes], IO[bytes]]:
    """Make a named pipe. Returns its read end, and a write end that is only kept open.

    A pipe ends when its last write end is closed. Without one here a cell that never opens the pipe would leave
    it without an end, and two writers in turn would end it in between.
    """
    os.mkfifo(path)
    path.chmod(0o622)  # its folder is private; in a container its writer is another user
    # Non-blocking, because opening would else wait for a writer.
    read_end = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb", buffering=0)
    write_end = os.fdopen(os.open(path, os.O_WRONLY | os.O_NOFOLLOW), "wb", buffering=0)
    with suppress(OSError):  # beyond the user's quota of pipes: the pipe keeps its size
        fcntl.fcntl(read_end, fcntl.F_SETPIPE_SZ, _BUFFER_BYTES)
    return read_end, write_end
