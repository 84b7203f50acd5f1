"""Bytes that no row names any more: of deleted datasets, of steps that never committed, of failed uploads."""

import asyncio
import logging
import random

from app.db.pool import Database
from app.storage.blobs import BlobStore

# What a running session may still replay names its blobs inside JSON: any digest there counts as named.
_NAMED = """
    SELECT digest FROM datasets UNION SELECT source_digest FROM datasets UNION SELECT digest FROM artifacts
    UNION SELECT (regexp_matches(meta::text, '[0-9a-f]{64}', 'g'))[1] FROM artifacts
    UNION SELECT (regexp_matches(c.result::text, '[0-9a-f]{64}', 'g'))[1]
        FROM calls c JOIN sessions s ON s.id = c.session_id WHERE s.ended_at IS NULL
    UNION SELECT (regexp_matches(concat(f.spec::text, f.result::text), '[0-9a-f]{64}', 'g'))[1]
        FROM fits f JOIN sessions s ON s.id = f.session_id WHERE s.ended_at IS NULL
"""
DAY_S = 86_400.0
HOUR_S = 3_600.0

log = logging.getLogger(__name__)


async def sweep_blobs(database: Database, blobs: BlobStore, age_s: float = DAY_S) -> int:
    """Forget unnamed blobs that nobody wrote for `age_s` seconds; how many there were.

    Safe beside writers: bytes are written before the row that names them, and a write makes a blob young again.
    """
    old = [digest async for digest in blobs.stored_before(age_s)]
    if not old:
        return 0
    named = {row["digest"] for row in await database.rows(_NAMED)}
    forgotten = [await blobs.forget(digest, age_s) for digest in old if digest not in named]
    return sum(forgotten)


async def sweep_blobs_for_ever(database: Database, blobs: BlobStore) -> None:
    """About every hour until cancelled; a pass that fails is followed by the next."""
    while True:
        await asyncio.sleep(HOUR_S * random.uniform(0.5, 1))  # noqa: S311 - spreads the processes
        try:
            await sweep_blobs(database, blobs)
        except Exception:
            log.warning("a sweep of blobs failed", exc_info=True)
