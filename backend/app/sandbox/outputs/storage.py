"""Storage of the files that a cell left, within the time and the processor budget of its computation."""

import asyncio
import mimetypes
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.sandbox.exchange.contract import Limits, Outcome, Usage
from app.storage.blobs import BlobStore

MIN_STORING_S = 30.0
"""Seconds that are always allowed, so that a computation that used its time up keeps an ordinary set of files.

512 MB, the largest artifact by default, take about 10 s into Postgres on two processors.
"""
MAX_CONCURRENT_FILES = 3
"""Files stored at once: a commit waits for its disk, and several wait together. A process has 8 connections."""

_MEDIA_TYPES = {
    ".parquet": "application/vnd.apache.parquet",
    ".skops": "application/vnd.skops",
    ".md": "text/markdown",
    ".ipynb": "application/x-ipynb+json",
}


@dataclass(frozen=True)
class StoredFile:
    """A file that a computation left, now a blob."""

    name: str
    digest: str
    size_bytes: int
    media_type: str


class StoringTimedOut(Exception):
    """The time of the computation ended while its files were being stored."""


async def store_files(
    blobs: BlobStore, output: Path, outcome: Outcome, limits: Limits
) -> tuple[tuple[StoredFile, ...], Usage]:
    """Store the files of `outcome`. Returns them in order, and its usage with that of storing.

    Raises StoringTimedOut when the computation's time is used up: storing may take the time that the cell did
    not use, and MIN_STORING_S at least. Its processor time is that of this process meanwhile, at most the time
    that passed: an upper bound where other computations are served at once.
    """
    wall_s, cpu_s = time.monotonic(), time.process_time()
    try:
        async with asyncio.timeout(max(MIN_STORING_S, limits.time_s - outcome.usage.wall_s)) as time_left:
            files = await _store_all(blobs, output, outcome.files)
    except TimeoutError as error:
        if time_left.expired():
            raise StoringTimedOut from error
        raise
    wall_s, cpu_s = time.monotonic() - wall_s, time.process_time() - cpu_s
    usage = outcome.usage
    return files, replace(usage, wall_s=usage.wall_s + wall_s, cpu_s=usage.cpu_s + min(wall_s, cpu_s))


async def _store_all(blobs: BlobStore, output: Path, names: Sequence[str]) -> tuple[StoredFile, ...]:
    slots = asyncio.Semaphore(MAX_CONCURRENT_FILES)

    async def store(name: str) -> StoredFile:
        async with slots:
            return await _store(blobs, output / name, name)

    try:
        # A group, since nothing may read the output folder any more when this raises: it is removed then.
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(store(name)) for name in names]
    except BaseExceptionGroup as errors:
        # Callers know the errors of stores, and not groups of them.
        raise errors.exceptions[0] from None
    return tuple(task.result() for task in tasks)


async def _store(blobs: BlobStore, path: Path, name: str) -> StoredFile:
    blob = await blobs.put_file(path)
    media_type = _MEDIA_TYPES.get(path.suffix) or mimetypes.guess_type(name)[0]
    return StoredFile(name, blob.digest, blob.size_bytes, media_type or "application/octet-stream")
