"""A zip archive that is made while it is sent: no file of it is held whole, and nothing touches a disk."""

import asyncio
import hashlib
import io
import json
import zipfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

PACKED = (".parquet", ".png", ".skops", ".zip", ".gz")
"""Formats that are compressed already."""
_BIG = 1 << 31


@dataclass(frozen=True)
class Entry:
    """`content` gives the bytes in pieces; `about` goes into the manifest."""

    path: str
    content: AsyncIterator[bytes]
    about: Mapping[str, Any]
    size_bytes: int = 0


class _Sink(io.RawIOBase):
    """Collects what the archive writes until it is sent; it cannot seek, so the archive never goes back."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def taken(self) -> bytes:
        data, self._pieces = b"".join(self._pieces), []
        return data


async def zipped(entries: Sequence[Entry], facts: Mapping[str, Any], at: datetime) -> AsyncIterator[bytes]:
    """The archive's bytes: the entries in order, then manifest.json with `facts` and the SHA-256 of each."""
    sink = _Sink()
    listed: list[dict[str, Any]] = []
    with zipfile.ZipFile(sink, "w") as archive:
        for entry in entries:
            seen, size = hashlib.sha256(), 0
            with archive.open(_info(entry.path, at), "w", force_zip64=entry.size_bytes > _BIG) as file:
                async for piece in entry.content:
                    seen.update(piece)
                    size += len(piece)
                    await asyncio.to_thread(file.write, piece)
                    if data := sink.taken():
                        yield data
            listed.append({"path": entry.path, "sha256": seen.hexdigest(), "size_bytes": size, **entry.about})
        manifest = json.dumps({**facts, "files": listed}, ensure_ascii=False, indent=1)
        archive.writestr(_info("manifest.json", at), manifest)
    yield sink.taken()


def _info(path: str, at: datetime) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(path, at.timetuple()[:6])
    info.compress_type = zipfile.ZIP_STORED if path.endswith(PACKED) else zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info
