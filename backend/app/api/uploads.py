"""An upload on its way to a temporary file: one file of a multipart form, or a raw body."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import Request

from app.api.forms import Sink, form_reader, plain_filename
from app.errors import InvalidInput
from app.storage.temporary_files import temporary_file

_BATCH = 1 << 20

UPLOAD_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}, "name": {"type": "string"}},
                }
            },
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}
"""For `openapi_extra` of a route that reads an upload."""


@dataclass(frozen=True)
class Received:
    """A file that arrived whole, until its block ends; `texts` are the form's other parts."""

    path: Path
    filename: str
    size_bytes: int
    digest: str
    """SHA-256 of the file, in hexadecimal."""
    texts: dict[str, str]


@asynccontextmanager
async def received(request: Request, folder: Path, max_bytes: int) -> AsyncIterator[Received]:
    """The upload in a file that is gone after the block, whatever happens.

    Takes `multipart/form-data` with one part `file`, or any other body as the file itself, named by the query's
    `filename`. Raises TooLarge as soon as more than `max_bytes` came, InvalidInput for a form that is none.
    """
    sink, seen = Sink(max_bytes), hashlib.sha256()
    with temporary_file(folder, "upload-") as path:
        with path.open("wb") as file:

            def keep(piece: bytes) -> None:
                file.write(piece)
                seen.update(piece)

            take = _reader(request, sink)
            async for piece in request.stream():
                if piece:
                    take(piece)
                if len(sink.waiting) >= _BATCH:
                    await asyncio.to_thread(keep, sink.drain())
            take(b"")
            await asyncio.to_thread(keep, sink.drain())
        if sink.filename is None:
            raise InvalidInput("file_missing", "Send the file as the form's part `file`, with a file name.")
        yield Received(path, sink.filename, sink.size_bytes, seen.hexdigest(), sink.texts)


def _reader(request: Request, sink: Sink) -> Callable[[bytes], None]:
    content_type = request.headers.get("content-type", "")
    if content_type.lower().startswith("multipart/form-data"):
        return form_reader(content_type, sink)
    sink.filename = plain_filename(request.query_params.get("filename", "upload"))
    sink.texts = dict(request.query_params)
    return sink.add
