"""Uploads to a temporary file: the file of a multipart form, or a raw body."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import Request

from app.api.files.multipart_form import UploadSink, make_form_reader, plain_filename
from app.errors import InvalidInput
from app.storage.temporary_files import temporary_file

_BATCH_BYTES = 1 << 20
"""Bytes written at a time, so that handing a write to a thread is a small part of its cost."""

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
class ReceivedUpload:
    """A complete upload, which is deleted when its block ends. `texts`: the other parts of the form."""

    path: Path
    filename: str
    size_bytes: int
    digest: str
    """SHA-256 of the file, in hexadecimal."""
    texts: dict[str, str]


@asynccontextmanager
async def receive_upload(request: Request, folder: Path, max_bytes: int) -> AsyncIterator[ReceivedUpload]:
    """Receive an upload in a temporary file, which is deleted after the block.

    The body is `multipart/form-data` with one part `file`, or the file itself, named by the query parameter
    `filename`. Raises TooLarge at the first byte over `max_bytes`, and InvalidInput for a damaged form.
    """
    sink, digest = UploadSink(max_bytes), hashlib.sha256()
    with temporary_file(folder, "upload-") as path:
        with path.open("wb") as file:

            def write(piece: bytes) -> None:
                file.write(piece)
                digest.update(piece)

            parse = _reader(request, sink)
            async for piece in request.stream():
                # An empty piece would be the end of the form.
                if piece:
                    parse(piece)
                if len(sink.pending) >= _BATCH_BYTES:
                    await asyncio.to_thread(write, sink.drain())
            # The end of the body: a form that was cut is refused here.
            parse(b"")
            await asyncio.to_thread(write, sink.drain())
        if sink.filename is None:
            raise InvalidInput("file_missing", "Send the file as the form's part `file`, with a file name.")
        yield ReceivedUpload(path, sink.filename, sink.size_bytes, digest.hexdigest(), sink.texts)


def _reader(request: Request, sink: UploadSink) -> Callable[[bytes], None]:
    content_type = request.headers.get("content-type", "")
    if content_type.lower().startswith("multipart/form-data"):
        return make_form_reader(content_type, sink)
    sink.filename = plain_filename(request.query_params.get("filename", "upload"))
    sink.texts = dict(request.query_params)
    return sink.add
