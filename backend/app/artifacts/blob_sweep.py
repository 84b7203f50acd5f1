"""The sweep of blobs that no row refers to: of deleted rows, uncommitted steps and failed uploads."""

import asyncio
from collections.abc import AsyncIterator

from app.db.pool import Database
from app.storage.blobs import BlobStore

_BATCH_BLOBS = 500
"""Digests of one query, so few that each query stays short."""
_BATCH_PAUSE_S = 0.02
"""Pause after a batch, which leaves the database to the service's own statements."""

# One statement reads one snapshot, so a digest that moves from one row to another is seen in one of them. A
# session that has not ended may replay calls with digests inside JSON: any digest there counts as a reference.
_UNREFERENCED_SQL = """
    SELECT d AS digest FROM unnest($1::text[]) AS d
    WHERE d NOT IN (SELECT digest FROM datasets) AND d NOT IN (SELECT source_digest FROM datasets)
      AND NOT EXISTS (SELECT FROM datasets WHERE cells_digest = d)
      AND d NOT IN (SELECT f ->> 'digest' FROM datasets, jsonb_array_elements(former) AS f)
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
    """Delete unreferenced blobs that were last written `age_s` seconds ago; return their number.

    Safe beside writers: bytes are written before the row that refers to them, and a write renews the blob's
    time, so bytes that are being stored a second time stay.
    """
    deleted = 0
    async for batch in _unreferenced(database, blobs, age_s):
        for digest in batch:
            deleted += await blobs.forget(digest, age_s)
        await asyncio.sleep(_BATCH_PAUSE_S)
    return deleted


async def count_sweepable_blobs(database: Database, blobs: BlobStore, age_s: float) -> int:
    """Count the blobs that `sweep_blobs` would delete."""
    return sum([len(batch) async for batch in _unreferenced(database, blobs, age_s)])


async def _unreferenced(database: Database, blobs: BlobStore, age_s: float) -> AsyncIterator[list[str]]:
    async for batch in _batches(blobs.stored_before(age_s)):
        yield await database.column(_UNREFERENCED_SQL, batch)


async def _batches(digests: AsyncIterator[str]) -> AsyncIterator[list[str]]:
    batch: list[str] = []
    async for digest in digests:
        batch.append(digest)
        if len(batch) == _BATCH_BLOBS:
            yield batch
            batch = []
    if batch:
        yield batch
