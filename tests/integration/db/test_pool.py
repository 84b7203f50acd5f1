"""A statement that meets a lost connection is sent again."""

import asyncpg
import pytest

from app.db.pool import Database


async def test_a_statement_survives_its_connection(database_url: str) -> None:
    db = await Database.open(database_url, size=2)
    other = await asyncpg.connect(database_url)
    first = await db.row("select pg_backend_pid() as pid")
    assert first
    await other.fetch("select pg_terminate_backend($1)", first["pid"])
    second = await db.row("select pg_backend_pid() as pid")
    assert second
    assert second["pid"] != first["pid"]
    await other.close()
    await db.close()


async def test_a_wrong_argument_is_not_tried_again(database_url: str) -> None:
    db = await Database.open(database_url, size=1, patience_s=30)
    with pytest.raises(asyncpg.DataError):
        await db.row("select $1::int", "no number")
    await db.close()
