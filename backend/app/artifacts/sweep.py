"""Bytes that no row names any more: of what was deleted, of steps that never committed, of failed uploads."""

import asyncio
from collections.abc import AsyncIterator

from app.db.pool import Database
from app.storage.blobs import BlobStore

_BATCH_BLOBS = 500
_BATCH_PAUSE_S = 0.02

# One statement, one snapshot: what moves from one row to another is never between them. What a session that
# has not ended may still replay names its blobs inside JSON: any digest there counts as named.
_UNREFERENCED_SQL = """
    SELECT d AS digest FROM unnest($1::text[]) AS d
    WHERE d NOT IN (SELECT digest FROM datasets) AND d NOT IN (SELECT source_digest FROM datasets)
      AND NOT EXISTS (SELECT FROM artifacts WHERE digest = d)
      AND NOT EXISTS (SELECT FROM artifacts WHERE mentions @> ARRAY[d])
      AND d NOT IN (
        SELECT (regexp_matches(preferences::text, '[0-9a-f]{64}', 'g'))[1] FROM sessions WHERE ended_at IS NULL
        UNION ALL
        SELECT (regexp_matches(c.result::text, '[0-9a-f]{64}', 'g'))[1]
        FROM calls c JOIN sessions s ON s.id = c.session_id WHERE s.ended_at IS NULL
        UNION ALL
        SELECT (regexp_matches(concat(f.spec::text, f.result::text), '[0-9a-f]{64}', 'g'))[1]
        FROM fits f JOIN sessions s ON s.id = f.session_id WHERE s.ended_at IS NULL)
"""


async def sweep_blobs(database: Database, blobs: BlobStore, age_s: float) -> int:
    """Forget unnamed blobs that nobody wrote for `age_s` seconds; how many there were.

    Safe beside writers: bytes are written before the row that names them, and a write makes a blob young again,
    so bytes that somebody is storing a second time just now stay.
    """
    gone = 0
    async for batch in _unreferenced(database, blobs, age_s):
        for digest in batch:
            gone += await blobs.forget(digest, age_s)
        await asyncio.sleep(_BATCH_PAUSE_S)
    return gone


async def count_sweepable_blobs(database: Database, blobs: BlobStore, age_s: float) -> int:
    """How many `sweep_blobs` would forget."""
    return sum([len(batch) async for batch in _unreferenced(database, blobs, age_s)])


async def _unreferenced(database: Database, blobs: BlobStore, age_s: float) -> AsyncIterator[list[str]]:
    async for batch in _batches(blobs.stored_before(age_s)):
        yield [row["digest"] for row in await database.rows(_UNREFERENCED_SQL, batch)]


async def _batches(digests: AsyncIterator[str]) -> AsyncIterator[list[str]]:
    batch: list[str] = []
    async for digest in digests:
        batch.append(digest)
        if len(batch) == _BATCH_BLOBS:
            yield batch
            batch = []
    if batch:
        yield batch
