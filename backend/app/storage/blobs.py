"""Bytes by content address: the protocol every store keeps.

A digest is the lower-case hexadecimal SHA-256 of the bytes. Writing the same bytes twice is one blob. A blob
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
"""Stores cut, read and send bytes in pieces of this size; stored blobs depend on it."""

_DIGEST = re.compile(r"[0-9a-f]{64}")


class StoreUnavailable(Unavailable):
    """The store does not answer, or says that it cannot now: what needs it may be tried again later."""


@dataclass(frozen=True)
class Blob:
    digest: str
    size_bytes: int


@dataclass(frozen=True)
class BlobLimits:
    """`max_bytes` of one blob; `cache_bytes`, `cache_files` and `cache_grace_s` bound a remote store's copies.

    `cache_files`: reading a folder of 20,000 files takes 0.3 s of CPU.
    `patience_s`: how long a full disk is waited for.
    """

    max_bytes: int = 2 << 30
    max_wait_s: float = 10.0
    cache_bytes: int = 4 << 30
    cache_files: int = 20_000
    cache_grace_s: float = 900.0


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
        """Digests of blobs that nobody has written for `age_s` seconds."""
        ...

    async def forget(self, digest: str, age_s: float) -> bool:
        """Delete a blob unless it was written again in the last `age_s` seconds; was it deleted?"""
        ...


def is_digest(name: str) -> bool:
    return _DIGEST.fullmatch(name) is not None


def check_digest(digest: str) -> str:
    """The digest itself if it is one: it becomes a path and a key."""
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
    """The file in chunks of CHUNK_BYTES, the last one shorter; blocking."""
    with path.open("rb") as source:
        while piece := source.read(CHUNK_BYTES):
            yield piece


def digest_file(path: Path, max_bytes: int, on_chunk: Callable[[bytes], object] | None = None) -> Blob:
    """Address and size of a file, read once; `each` sees every piece. Blocking; raises TooLarge."""
    sha256, size = hashlib.sha256(), 0
    for piece in read_chunks(path):
        size += len(piece)
        if size > max_bytes:
            raise too_large(max(size, path.stat().st_size), max_bytes)
        sha256.update(piece)
        if on_chunk:
            on_chunk(piece)
    return Blob(sha256.hexdigest(), size)


def digest_bytes(data: bytes, max_bytes: int) -> Blob:
    if len(data) > max_bytes:
        raise too_large(len(data), max_bytes)
    return Blob(hashlib.sha256(data).hexdigest(), len(data))
