"""A zip archive written while it is sent, without holding a whole file in memory or on disk."""

import asyncio
import hashlib
import io
import json
import zipfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

COMPRESSED_SUFFIXES = (".parquet", ".png", ".skops", ".zip", ".gz")
"""Files in compressed formats, which are stored without compressing them again."""
_ZIP64_BYTES = 1 << 31
"""Entries above this size need ZIP64, which must be decided before their bytes are written."""


@dataclass(frozen=True)
class Entry:
    """A file of the archive: its bytes in pieces, and `about`, its members in the manifest."""

    path: str
    content: AsyncIterator[bytes]
    about: Mapping[str, Any]
    size_bytes: int = 0


class _Sink(io.RawIOBase):
    """A buffer of what the archive writes until it is sent. It cannot seek, so the archive never rewrites."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def drain(self) -> bytes:
        data, self._pieces = b"".join(self._pieces), []
        return data


async def stream_zip(entries: Sequence[Entry], facts: Mapping[str, Any], at: datetime) -> AsyncIterator[bytes]:
    """Yield the bytes of the archive: the entries, then manifest.json with `facts` and the SHA-256 of each."""
    sink = _Sink()
    files: list[dict[str, Any]] = []
    with zipfile.ZipFile(sink, "w") as archive:
        for entry in entries:
            sha256, size = hashlib.sha256(), 0
            with archive.open(
                _zip_info(entry.path, at), "w", force_zip64=entry.size_bytes > _ZIP64_BYTES
            ) as file:
                async for piece in entry.content:
                    sha256.update(piece)
                    size += len(piece)
                    # In a thread: while a piece is compressed, the loop serves others.
                    await asyncio.to_thread(file.write, piece)
                    if data := sink.drain():
                        yield data
            files.append({"path": entry.path, "sha256": sha256.hexdigest(), "size_bytes": size, **entry.about})
        manifest = json.dumps({**facts, "files": files}, ensure_ascii=False, indent=1)
        archive.writestr(_zip_info("manifest.json", at), manifest)
    # The directory of the archive, which is written when it is closed.
    yield sink.drain()


def _zip_info(path: str, at: datetime) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(path, at.timetuple()[:6])
    info.compress_type = zipfile.ZIP_STORED if path.endswith(COMPRESSED_SUFFIXES) else zipfile.ZIP_DEFLATED
    # Without a mode a file that is unpacked on Unix cannot be opened.
    info.external_attr = 0o644 << 16
    return info
