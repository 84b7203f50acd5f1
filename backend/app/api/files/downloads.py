"""Downloads of stored bytes: ranges, conditional requests, safe file names and a sandboxing policy."""

import re
from dataclasses import dataclass
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from app.api.exception_handlers import problem
from app.storage.blobs import BlobStore

_SHOWN_INLINE = ("text/", "image/", "application/json", "application/pdf")
_PAGE_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
_SUFFIXES = {"application/vnd.apache.parquet": ".parquet", "text/csv": ".csv", "application/json": ".json"}
"""By media type: without one a downloaded file opens in no program."""
# Immutable: no artifact ever gets other bytes.
_CACHE = "private, max-age=86400, immutable"


@dataclass(frozen=True)
class Download:
    digest: str
    size_bytes: int
    media_type: str
    filename: str


@dataclass(frozen=True)
class ByteRange:
    """Bytes from `start` to `end`, exclusive."""

    start: int
    end: int


def parse_range(header: str | None, size_bytes: int) -> ByteRange | None:
    """Parse a `Range` header with one range; None stands for the whole file.

    Several ranges, another unit and invalid headers are ignored, as RFC 9110 permits. Raises ValueError for a
    range outside of the file.
    """
    # No more digits than the size of a file can have.
    match = re.fullmatch(r"bytes=(\d{0,19})-(\d{0,19})", (header or "").replace(" ", ""))
    if not match or not (match[1] or match[2]):
        return None
    # `bytes=-500` is the last 500.
    if not match[1]:
        start, end = max(size_bytes - int(match[2]), 0), size_bytes
    else:
        start = int(match[1])
        end = min(int(match[2]) + 1, size_bytes) if match[2] else size_bytes
        if match[2] and int(match[2]) < start:
            return None
    if start >= end:
        raise ValueError(f"bytes */{size_bytes}")
    return ByteRange(start, end)


async def send_blob(request: Request, blobs: BlobStore, download: Download, attach: bool = False) -> Response:
    """Answer 200, 206, 304 or 416 by the headers of the request. Raises NotFound if the bytes are deleted."""
    # Before the head of the answer: bytes that are gone are a 404, and no answer that breaks off.
    await blobs.size(download.digest)
    etag = f'"{download.digest}"'
    headers = {"ETag": etag, "Accept-Ranges": "bytes", "Cache-Control": _CACHE}
    if etag in _tags(request.headers.get("if-none-match", "")):
        return Response(status_code=304, headers=headers)
    # A range of other bytes would not fit what the client has already.
    current = request.headers.get("if-range", etag) == etag
    try:
        part = parse_range(request.headers.get("range") if current else None, download.size_bytes)
    except ValueError as error:
        return problem(
            416,
            "range_not_satisfiable",
            f"The file has {download.size_bytes} bytes.",
            request.scope.get("request_id"),
            headers={"Content-Range": str(error)},
        )
    headers |= describe_file(download, attach)
    status, part = (206, part) if part else (200, ByteRange(0, download.size_bytes))
    if status == 206:
        headers["Content-Range"] = f"bytes {part.start}-{part.end - 1}/{download.size_bytes}"
    headers["Content-Length"] = str(part.end - part.start)
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers, media_type=download.media_type)
    content = blobs.open(download.digest, part.start, part.end)
    return StreamingResponse(content, status, headers, download.media_type)


def _tags(header: str) -> list[str]:
    return [tag.strip().removeprefix("W/") for tag in header.split(",")]


def describe_file(download: Download, attach: bool) -> dict[str, str]:
    """Return headers that show a file without scripts, forms or this origin: sessions write HTML."""
    inline = download.media_type.startswith(_SHOWN_INLINE) and not attach
    filename = download.filename[:150]
    suffix = _SUFFIXES.get(download.media_type, "")
    if "." not in filename:
        filename += suffix
    # Old clients read only this name, which may hold no quotes and nothing but ASCII.
    plain = re.sub(r"[^A-Za-z0-9._ -]", "_", filename) or "file"
    disposition = "inline" if inline else "attachment"
    encoded = quote(filename, safe="")
    return {
        "Content-Disposition": f"{disposition}; filename=\"{plain}\"; filename*=UTF-8''{encoded}",
        "Content-Security-Policy": _PAGE_POLICY,
    }
