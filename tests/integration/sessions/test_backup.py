"""What was backed up goes on where it stood, in another database and with an empty Redis."""

import asyncio
from pathlib import Path

import pytest
from tests.integration.sessions.conftest import Lab
from tests.integration.sessions.lab.rows import assert_all_once, effects

from app.cli.administration.backup_folder import DUMP, back_up, bring_back
from app.db.pool import Database
from app.errors import Conflict, InvalidInput
from app.sessions.config import SessionsConfig
from app.sessions.service import SessionService
from app.storage.folder import FolderBlobs
from app.storage.postgres import PostgresBlobs


async def test_a_session_that_waited_for_an_answer_goes_on_in_a_restored_database(
    lab: Lab, empty_database_url: str, tmp_path: Path
) -> None:
    worker = lab.start_worker()
    like_id, waiting = await lab.create(ask=True, fits=2), await lab.create(ask=True, fits=2)
    await lab.answer(like_id)
    await lab.ended(like_id)
    like = await effects(lab.db, like_id)
    await lab.until(waiting, lambda row: row["status"] == "awaiting_user")
    inside = await PostgresBlobs(lab.db.pool, tmp_path / "copies").put_bytes(b"in the dump")
    outside = FolderBlobs(tmp_path / "outside")
    beside = await outside.put_bytes(b"beside the dump")

    place, manifest = await back_up(tmp_path / "backups", lab.database_url, outside)
    assert (manifest.rows["sessions"], manifest.blobs) == (2, 1)
    await worker.end()
    await lab.redis.flushdb()
    again = FolderBlobs(tmp_path / "again")
    assert (await bring_back(place, empty_database_url, again, print)).rows == manifest.rows
    with pytest.raises(Conflict, match="empty"):
        await bring_back(place, empty_database_url, again, print)

    db = await Database.open(empty_database_url, size=2)
    try:
        service = SessionService(db, lab.service.publisher, lab.service.send_job, SessionsConfig(), graph="lab")
        folder = tmp_path / "elsewhere"
        await asyncio.to_thread(folder.mkdir)
        restored = Lab(
            lab.nursery,
            empty_database_url,
            lab.redis_url,
            folder,
            db,
            lab.redis,
            service,
            lab.owner,
            lab.workers,
        )
        restored.start_worker()
        await restored.answer(waiting)
        await restored.ended(waiting)
        await assert_all_once(db, waiting, like)
        assert await PostgresBlobs(db.pool, tmp_path / "copies").size(inside.digest) == 11
        assert await again.size(beside.digest) == 15
    finally:
        await db.close()


async def test_a_damaged_backup_is_refused(lab: Lab, empty_database_url: str, tmp_path: Path) -> None:
    place, _ = await back_up(tmp_path, lab.database_url, None)
    await asyncio.to_thread((place / DUMP).write_bytes, b"something else")
    with pytest.raises(InvalidInput, match="SHA-256"):
        await bring_back(place, empty_database_url, None, print)
