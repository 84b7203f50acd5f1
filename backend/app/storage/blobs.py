"""Bytes by content address: the protocol every store keeps.

A digest is the lower-case hexadecimal SHA-256 of the bytes. Writing the same bytes twice is one blob. A blob
that no row names is harmless and swept later, so bytes are stored before the rows that name them.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Blob:
    digest: str
    size_bytes: int


class BlobStore(Protocol):
    async def put_file(self, path: Path) -> Blob:
        """Store a file; raises TooLarge over the store's limit."""
        ...

    async def put_bytes(self, data: bytes) -> Blob: ...

    def open(self, digest: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Stream bytes `start` to `end` (exclusive); raises NotFound."""
        ...

    async def size(self, digest: str) -> int: ...

    async def local_path(self, digest: str) -> Path:
        """A read-only file of this host with these bytes, from a bounded cache."""
        ...
