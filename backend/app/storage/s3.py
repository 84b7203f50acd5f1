"""Blobs in a bucket: `<prefix>/ab/abcd...`. Every worker on every machine can read them.

Large files are sent in parts and read in ranges, each repeated by itself when it fails: a broken connection
costs one part. Writing the same bytes again replaces the object, which renews its time.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

import obstore
from obstore.exceptions import BaseError

from app.errors import LabError
from app.observability.metrics.stores import BLOB_BYTES
from app.storage.blobs import (
    CHUNK_BYTES,
    Blob,
    BlobLimits,
    check_digest,
    digest_bytes,
    digest_file,
    is_digest,
    not_stored,
)
from app.storage.bucket import Bucket, bucket_error, open_bucket
from app.storage.cache import LocalCache

_PART_BYTES = 8 * CHUNK_BYTES
"""Bytes of a part and of a range: S3 takes parts of 5 MiB at least."""
_MAX_CONCURRENT_PARTS = 4
"""Parts of one file that are sent at once, each with its bytes in memory."""
_MAX_ADOPT_BYTES = 64 << 20
"""Largest file that is copied into the local cache when it is stored; its writer waits for the copy."""
_TRIAL_PREFIX = "trial"
_LIST_PAGE = 1_000
"""Keys of one request: the most that S3 lists."""


class S3Blobs:
    """Store in a bucket. `cache`: folder of this host.

    `forget` looks and then deletes, since S3 has no conditional delete by age: bytes that are written again in
    the milliseconds between may be lost, after no row named them for `age_s` seconds.
    """

    def __init__(self, bucket: Bucket, cache: Path, limits: BlobLimits | None = None) -> None:
        self._bucket = bucket
        self._store = open_bucket(bucket)
        self._limits = limits or BlobLimits()
        self._cache = LocalCache(cache, self._limits)

    async def put_file(self, path: Path) -> Blob:
        blob = await asyncio.to_thread(digest_file, path, self._limits.max_bytes)
        with self._translate_errors(blob.digest):
            await obstore.put_async(
                self._store,
                _key(blob.digest),
                path,
                use_multipart=blob.size_bytes > _PART_BYTES,
                chunk_size=_PART_BYTES,
                max_concurrency=_MAX_CONCURRENT_PARTS,
            )
        if blob.size_bytes <= _MAX_ADOPT_BYTES:
            await asyncio.to_thread(self._cache.adopt, path, blob.digest)
        BLOB_BYTES.labels("stored").inc(blob.size_bytes)
        return blob

    async def put_bytes(self, data: bytes) -> Blob:
        blob = digest_bytes(data, self._limits.max_bytes)
        with self._translate_errors(blob.digest):
            await obstore.put_async(self._store, _key(blob.digest), data, use_multipart=False)
        BLOB_BYTES.labels("stored").inc(blob.size_bytes)
        return blob

    async def open(self, digest: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        size = await self.size(digest)
        stop = size if end is None else min(end, size)
        while start < stop:
            # A request is open per range, not per stream: a slow reader must not keep one.
            with self._translate_errors(digest):
                fetched = await obstore.get_range_async(
                    self._store, _key(digest), start=start, end=min(stop, start + _PART_BYTES)
                )
            start += len(fetched)
            BLOB_BYTES.labels("read").inc(len(fetched))
            view = memoryview(fetched)
            # A whole part would be eight times what readers get from any other store.
            for at in range(0, len(view), CHUNK_BYTES):
                yield bytes(view[at : at + CHUNK_BYTES])

    async def size(self, digest: str) -> int:
        with self._translate_errors(check_digest(digest)):
            return (await obstore.head_async(self._store, _key(digest)))["size"]

    async def local_path(self, digest: str) -> Path:
        return self._cache.find(digest) or await self._cache.fill(digest, self.open(digest))

    async def stored_before(self, age_s: float) -> AsyncIterator[str]:
        with self._translate_errors():
            until = await self._now() - timedelta(seconds=age_s)
            async for page in obstore.list(self._store, chunk_size=_LIST_PAGE):
                for entry in page:
                    name = entry["path"].rpartition("/")[2]
                    if is_digest(name) and entry["last_modified"] < until:
                        yield name

    async def forget(self, digest: str, age_s: float) -> bool:
        key = _key(check_digest(digest))
        with self._translate_errors(digest):
            try:
                entry = await obstore.head_async(self._store, key)
            except FileNotFoundError:
                return False
            if entry["last_modified"] >= await self._now() - timedelta(seconds=age_s):
                return False
            await obstore.delete_async(self._store, key)
            return True

    async def check_access(self) -> None:
        """Try each kind of request that the service makes. Raises Unavailable with what to do."""
        with self._translate_errors():
            async for _ in obstore.list(self._store, chunk_size=1):
                break
            await self._now()

    async def _now(self) -> datetime:
        """Return the time by the store's clock, by which its objects are dated: hosts' clocks may be wrong."""
        key = f"{_TRIAL_PREFIX}-{uuid4().hex}"
        await obstore.put_async(self._store, key, b"")
        now = (await obstore.head_async(self._store, key))["last_modified"]
        await obstore.delete_async(self._store, key)
        return now

    @contextmanager
    def _translate_errors(self, digest: str = "") -> Iterator[None]:
        """Translate errors of the store, without their text, which may name hosts."""
        try:
            yield
        except (BaseError, FileNotFoundError) as error:
            raise self._store_error(error, digest) from None

    def _store_error(self, error: Exception, digest: str) -> LabError:
        return bucket_error(error, self._bucket) or not_stored(digest)


def _key(digest: str) -> str:
    return f"{digest[:2]}/{digest}"
