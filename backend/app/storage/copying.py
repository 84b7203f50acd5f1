"""Copy of all blobs of one store into another, for a service that changes its store."""

from collections.abc import AsyncIterator

from app.errors import NotFound
from app.storage.blobs import Blob, BlobStore


async def copy_blobs(source: BlobStore, target: BlobStore) -> AsyncIterator[tuple[Blob, bool]]:
    """Copy the blobs; yield each when it is done, and True if it had to be copied.

    A run that was interrupted is continued by the next one.
    Copies are verified on the way. A blob that is written to `source` meanwhile is left to the next run; one
    that is swept meanwhile is left out.
    """
    async for digest in source.stored_before(0.0):
        try:
            size_bytes = await source.size(digest)
            if await _size(target, digest) == size_bytes:
                yield Blob(digest, size_bytes), False
            else:
                yield await target.put_file(await source.local_path(digest)), True
        except NotFound:
            continue


async def _size(store: BlobStore, digest: str) -> int | None:
    try:
        return await store.size(digest)
    except NotFound:
        return None
