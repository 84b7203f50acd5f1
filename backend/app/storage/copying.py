"""Every blob of one store into another, for a service that changes where it keeps them."""

from collections.abc import AsyncIterator

from app.errors import NotFound
from app.storage.blobs import Blob, BlobStore


async def copy_blobs(source: BlobStore, target: BlobStore) -> AsyncIterator[tuple[Blob, bool]]:
    """Each blob as it is done, and whether it had to be copied; begun again, it goes on where it was cut.

    Copies are verified on the way. What is written to `source` meanwhile is left to the next time; what is
    swept meanwhile is left out.
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
