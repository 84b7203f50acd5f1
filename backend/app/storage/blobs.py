"""Content-addressed bytes (blobs), and the protocol of their stores.

A digest is the lower-case hexadecimal SHA-256 of the bytes. Writing the same bytes twice makes one blob. A blob
that no row names is harmless and swept later, so bytes are stored before the rows that name them.
"""

import hashlib
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.errors import InvalidInput, NotFound, TooLarge, Unavailable

CHUNK_BYTES = 1 << 20
"""Bytes of a chunk, in which stores cut, read and send blobs. Rows in Postgres depend on it."""

_DIGEST = re.compile(r"[0-9a-f]{64}")


class StoreUnavailable(Unavailable):
    """The store does not answer, or cannot serve now: the operation may be tried again later."""


@dataclass(frozen=True)
class Blob:
    digest: str
    size_bytes: int


@dataclass(frozen=True)
class BlobLimits:
    """Limits of a store, and of the local copies of a remote one."""

    max_bytes: int = 2 << 30
    """Of one blob; settings give the largest upload or artifact."""
    max_wait_s: float = 10.0
    """Seconds that a full disk is waited for, since an operator or a sweep may free space."""
    cache_bytes: int = 4 << 30
    """Of all local copies: eight of the largest artifacts by default."""
    cache_files: int = 20_000
    """Local copies: reading a folder of so many files takes 0.3 s of CPU."""
    cache_grace_s: float = 900.0
    """Seconds after its last use in which a copy is not evicted: a cell may still read it."""


class BlobStore(Protocol):
    async def put_file(self, path: Path) -> Blob:
        """Store a file; raises TooLarge over the store's limit."""
        ...

    async def put_bytes(self, data: bytes) -> Blob: ...

    def open(self, digest: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Stream bytes `start` to `end` (exclusive, cut at the blob's end); raises NotFound."""
        ...

    async def size(self, digest: str) -> int:
        """Raises NotFound."""
        ...

    async def local_path(self, digest: str) -> Path:
        """A read-only file of this host with these bytes, from a bounded cache; raises NotFound."""
        ...

    def stored_before(self, age_s: float) -> AsyncIterator[str]:
        """Yield the digests of blobs that were last written more than `age_s` seconds ago."""
        ...

    async def forget(self, digest: str, age_s: float) -> bool:
        """Delete a blob unless it was written again in the last `age_s` seconds. Returns True if it is gone."""
        ...


def is_digest(name: str) -> bool:
    return _DIGEST.fullmatch(name) is not None


def check_digest(digest: str) -> str:
    """Return the digest. Raises InvalidInput for another text, since it becomes a path and a key."""
    if not is_digest(digest):
        raise InvalidInput("bad_digest", "A digest is 64 lower-case hexadecimal characters.")
    return digest


def not_stored(digest: str) -> NotFound:
    return NotFound("blob_not_found", f"There are no stored bytes with the digest {digest}.", digest=digest)


def too_large(size_bytes: int, max_bytes: int) -> TooLarge:
    return TooLarge(
        "blob_too_large",
        f"It has {size_bytes:,} bytes; at most {max_bytes:,} are stored.",
        size_bytes=size_bytes,
        limit_bytes=max_bytes,
    )


def read_chunks(path: Path) -> Iterator[bytes]:
    """Yield the file in chunks of CHUNK_BYTES, the last one shorter. Blocking."""
    with path.open("rb") as source:
        while chunk := source.read(CHUNK_BYTES):
            yield chunk


def digest_file(path: Path, max_bytes: int, on_chunk: Callable[[bytes], object] | None = None) -> Blob:
    """Compute digest and size of a file, read once; `on_chunk` gets every chunk. Blocking; raises TooLarge."""
    sha256, size = hashlib.sha256(), 0
    for chunk in read_chunks(path):
        size += len(chunk)
        # While reading, not by stat: the file may be growing.
        if size > max_bytes:
            raise too_large(max(size, path.stat().st_size), max_bytes)
        sha256.update(chunk)
        if on_chunk:
            on_chunk(chunk)
    return Blob(sha256.hexdigest(), size)


def digest_bytes(data: bytes, max_bytes: int) -> Blob:
    if len(data) > max_bytes:
        raise too_large(len(data), max_bytes)
    return Blob(hashlib.sha256(data).hexdigest(), len(data))
