import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli.commands import make_app
from app.db.pool import Database
from app.errors import InvalidInput
from app.storage.folder import FolderBlobs
from app.storage.postgres import PostgresBlobs


async def _kept(database_url: str, folder: Path) -> str:
    database = await Database.open(database_url)
    blob = await PostgresBlobs(database.pool, folder).put_bytes(b"kept")
    await database.close()
    return blob.digest


def test_every_blob_is_copied_to_the_other_store_once(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("LABCREW_HOME", str(tmp_path / "home"))
    digest = asyncio.run(_kept(database_url, tmp_path))
    target = tmp_path / "elsewhere"
    for said in ("1 blobs were copied", "0 blobs were copied"):
        done = CliRunner().invoke(make_app(), ["blobs", "copy", "--to", str(target)])
        assert said in done.output
    taken = asyncio.run(FolderBlobs(target).local_path(digest))
    assert taken.read_bytes() == b"kept"
    refused = CliRunner().invoke(make_app(), ["blobs", "copy", "--to", "gs://bucket"])
    assert isinstance(refused.exception, InvalidInput)
    assert "s3://" in str(refused.exception)
