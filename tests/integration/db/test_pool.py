"""A statement that meets a lost connection is sent again."""

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from tests.patience import HANG_GUARD_S

from app.db.engine import create_engine
from app.db.pool import Database, is_away


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
    db = await Database.open(database_url, size=1, patience_s=10 * HANG_GUARD_S)
    with pytest.raises(asyncpg.DataError):
        await db.row("select $1::int", "no number")
    await db.close()


async def test_a_connection_that_the_orm_lost_is_told_from_a_wrong_statement(database_url: str) -> None:
    engine = create_engine(database_url)
    async with engine.connect() as connection:
        pid = (await connection.execute(text("select pg_backend_pid()"))).scalar()
        other = await asyncpg.connect(database_url)
        await other.fetch("select pg_terminate_backend($1)", pid)
        await other.close()
        with pytest.raises(DBAPIError) as lost:
            await connection.execute(text("select 1"))
        await connection.invalidate()
    assert is_away(lost.value)
    async with engine.connect() as connection:
        with pytest.raises(DBAPIError) as wrong:
            await connection.execute(text("select no_such_column"))
    assert not is_away(wrong.value)
    await engine.dispose()
