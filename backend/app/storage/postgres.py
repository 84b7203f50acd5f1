"""Blobs in Postgres, in chunks of 1 MiB: every worker on every machine can read them."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from itertools import islice
from pathlib import Path

from asyncpg import Connection, Pool

from app.observability.metrics.stores import BLOB_BYTES
from app.storage.blobs import (
    CHUNK_BYTES,
    Blob,
    BlobLimits,
    check_digest,
    digest_bytes,
    digest_file,
    not_stored,
    read_chunks,
)
from app.storage.cache import LocalCache

_BATCH_CHUNKS = 4
"""Chunks in memory at once, for each stream."""
_MAX_ADOPT_BYTES = 64 << 20
"""Largest file that is copied into the local cache when it is stored; its writer waits for the copy."""
# An existing blob's time is renewed, which keeps the sweep away from it. `xmax = 0` is true of a new row only.
_CLAIM = """
    INSERT INTO blobs (digest, size_bytes) VALUES ($1, $2)
    ON CONFLICT (digest) DO UPDATE SET created_at = now()
    RETURNING xmax = 0
"""
# A blob of one chunk: one statement is one wait for the disk, and of the five round trips of a COPY only one.
_PUT_CHUNK = """
    WITH claimed AS (
        INSERT INTO blobs (digest, size_bytes) VALUES ($1, $2)
        ON CONFLICT (digest) DO UPDATE SET created_at = now()
        RETURNING xmax = 0 AS is_new
    )
    INSERT INTO blob_chunks (digest, n, data) SELECT $1, 0, $3 FROM claimed WHERE is_new
    RETURNING true
"""
_READ = "SELECT data FROM blob_chunks WHERE digest = $1 AND n BETWEEN $2 AND $3 ORDER BY n"
_OLD = "SELECT digest FROM blobs WHERE created_at < now() - make_interval(secs => $1)"
_FORGET = "DELETE FROM blobs WHERE digest = $1 AND created_at < now() - make_interval(secs => $2)"


class PostgresBlobs:
    """Store in tables of Postgres. `pool`: asyncpg pool of this process; `cache`: folder of this host."""

    def __init__(self, pool: Pool, cache: Path, limits: BlobLimits | None = None) -> None:
        self._pool = pool
        self._limits = limits or BlobLimits()
        self._cache = LocalCache(cache, self._limits)

    async def put_file(self, path: Path) -> Blob:
        chunk = await asyncio.to_thread(_read_only_chunk, path)
        if chunk is not None:
            blob = await self.put_bytes(chunk)
        else:
            blob = await asyncio.to_thread(digest_file, path, self._limits.max_bytes)
            await self._put(blob, read_chunks(path))
        if blob.size_bytes <= _MAX_ADOPT_BYTES:
            await asyncio.to_thread(self._cache.adopt, path, blob.digest)
        return blob

    async def put_bytes(self, data: bytes) -> Blob:
        blob = digest_bytes(data, self._limits.max_bytes)
        if 0 < blob.size_bytes <= CHUNK_BYTES:
            if await self._pool.fetchval(_PUT_CHUNK, blob.digest, blob.size_bytes, data):
                BLOB_BYTES.labels("stored").inc(blob.size_bytes)
            return blob
        await self._put(blob, (data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES)))
        return blob

    async def open(self, digest: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        size = await self.size(digest)
        stop = size if end is None else min(end, size)
        while start < stop:
            first = start // CHUNK_BYTES
            last = min((stop - 1) // CHUNK_BYTES, first + _BATCH_CHUNKS - 1)
            # A connection is held per batch, not per stream: a slow reader must not keep one.
            chunks = await self._pool.fetch(_READ, digest, first, last)
            if len(chunks) != last - first + 1:
                raise not_stored(digest)
            for n, row in enumerate(chunks, first):
                chunk = row["data"][start - n * CHUNK_BYTES : stop - n * CHUNK_BYTES]
                start += len(chunk)
                BLOB_BYTES.labels("read").inc(len(chunk))
                yield chunk

    async def size(self, digest: str) -> int:
        size = await self._pool.fetchval("SELECT size_bytes FROM blobs WHERE digest = $1", check_digest(digest))
        if size is None:
            raise not_stored(digest)
        return int(size)

    async def local_path(self, digest: str) -> Path:
        return self._cache.find(digest) or await self._cache.fill(digest, self.open(digest))

    async def stored_before(self, age_s: float) -> AsyncIterator[str]:
        for row in await self._pool.fetch(_OLD, age_s):
            yield row["digest"]

    async def forget(self, digest: str, age_s: float) -> bool:
        return bool((await self._pool.execute(_FORGET, check_digest(digest), age_s)) == "DELETE 1")

    async def _put(self, blob: Blob, chunks: Iterable[bytes]) -> None:
        # One transaction: a second writer of the same bytes
        # waits at the row, and finds all chunks after that.
        async with self._pool.acquire() as connection, connection.transaction():
            if await connection.fetchval(_CLAIM, blob.digest, blob.size_bytes):
                await self._copy(connection, blob.digest, chunks)
                BLOB_BYTES.labels("stored").inc(blob.size_bytes)

    async def _copy(self, connection: Connection, digest: str, chunks: Iterable[bytes]) -> None:
        async def records() -> AsyncIterator[tuple[str, int, bytes]]:
            numbered = iter(enumerate(chunks))
            while batch := await asyncio.to_thread(lambda: list(islice(numbered, _BATCH_CHUNKS))):
                for n, chunk in batch:
                    yield digest, n, chunk

        await connection.copy_records_to_table(
            "blob_chunks", records=records(), columns=["digest", "n", "data"]
        )


def _read_only_chunk(path: Path) -> bytes | None:
    """Read a file of one chunk. None for an empty or a larger one. Blocking."""
    with path.open("rb") as source:
        # One byte more tells a larger file; not by stat, since the file may be growing.
        chunk = source.read(CHUNK_BYTES + 1)
    return chunk if 0 < len(chunk) <= CHUNK_BYTES else None
