"""Unnamed bytes go; what any row names stays."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from app.artifacts.blob_sweep import count_sweepable_blobs, sweep_blobs
from app.db.pool import Database
from app.errors import NotFound
from app.storage.postgres import PostgresBlobs


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = await Database.open(database_url)
    yield database
    await database.close()


async def test_only_blobs_without_a_row_are_swept(database: Database, tmp_path: Path) -> None:
    blobs = PostgresBlobs(database.pool, tmp_path)
    words = ("source", "table", "artifact", "meta", "call", "fit", "wish", "orphan", "ended")
    digest = {word: (await blobs.put_bytes(word.encode())).digest for word in words}
    owner, session, ended = uuid4(), uuid4(), uuid4()
    await database.rows(
        "INSERT INTO users (id, email, password_hash, role) VALUES ($1, 'a@b.c', 'x', 'user')", owner
    )
    for id_, at in ((session, "NULL"), (ended, "now()")):
        await database.rows(
            "INSERT INTO sessions (id, owner_id, goal, preferences, dataset_ids, seed, ended_at)"
            f" VALUES ($1, $2, 'g', $3, '{{}}', 1, {at})",
            id_,
            owner,
            json.dumps({"model": digest["wish" if at == "NULL" else "ended"]}),
        )
    await database.rows(
        "INSERT INTO datasets (id, owner_id, name, filename, source_digest, source_size_bytes, digest,"
        " size_bytes, rows, columns, format, profile)"
        " VALUES ($1, $2, 'n', 'f', $3, 1, $4, 1, 1, '[]', '{}', '{}')",
        uuid4(),
        owner,
        digest["source"],
        digest["table"],
    )
    await database.rows(
        "INSERT INTO artifacts (id, owner_id, session_id, seq, kind, name, media_type, digest, size_bytes,"
        " meta) VALUES ($1, $2, $3, 1, 'model', 'm', 'x', $4, 1, $5)",
        uuid4(),
        owner,
        session,
        digest["artifact"],
        json.dumps({"oof": digest["meta"]}),
    )
    for id_, word in ((session, "call"), (ended, "ended")):
        await database.rows(
            "INSERT INTO calls (session_id, seq, key, kind, name, request_digest, request, result,"
            " fence, started_at, duration_ms)"
            " VALUES ($1, 1, 'tool:1', 'tool', 'n', 'd', '{}', $2, 1, now(), 1)",
            id_,
            json.dumps({"file": digest[word]}),
        )
    await database.rows(
        "INSERT INTO fits (session_id, round_key, candidate, name, spec) VALUES ($1, 'r', 0, 'n', $2)",
        session,
        json.dumps({"inputs": {"frame": digest["fit"]}}),
    )

    assert await sweep_blobs(database, blobs, age_s=60.0) == 0
    assert await count_sweepable_blobs(database, blobs, age_s=0.0) == 2
    assert await sweep_blobs(database, blobs, age_s=0.0) == 2
    for word in words:
        if word in ("orphan", "ended"):
            with pytest.raises(NotFound):
                await blobs.size(digest[word])
        else:
            assert await blobs.size(digest[word]) == len(word)
