import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from tests.conftest import Servers
from tests.patience import until

from app.db import engine as engine_module
from app.db.engine import create_engine


@pytest.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    engine = create_engine(database_url, pool_size=1)
    yield engine
    await engine.dispose()


async def backend_of(connection: AsyncConnection) -> int:
    return int((await connection.execute(text("select pg_backend_pid()"))).scalar_one())


async def terminated(engine: AsyncEngine, servers: Servers) -> int:
    """Use a connection and have Postgres end it while nobody does; its process."""
    async with engine.connect() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        pid = await backend_of(connection)
    await asyncio.to_thread(servers.sql, f"select pg_terminate_backend({pid})")
    await until(lambda: driver.is_closed())  # type: ignore[union-attr]  # asyncpg's
    return pid


async def test_a_connection_that_postgres_ended_is_replaced(engine: AsyncEngine, servers: Servers) -> None:
    ended = await terminated(engine, servers)
    async with engine.connect() as connection:
        assert await backend_of(connection) != ended


async def test_a_connection_in_use_a_moment_ago_is_taken_without_a_question(engine: AsyncEngine) -> None:
    pings: list[Any] = []
    async with engine.connect() as connection:
        raw: Any = (await connection.get_raw_connection()).dbapi_connection
        first = await backend_of(connection)
    real = type(raw).ping
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(raw), "ping", lambda self: (pings.append(self), real(self)))
        async with engine.connect() as connection:
            assert await backend_of(connection) == first
        assert pings == []
        patch.setattr(engine_module, "MAX_UNCHECKED_S", -1.0)
        async with engine.connect() as connection:
            assert await backend_of(connection) == first
        assert len(pings) == 1


async def test_a_connection_that_does_not_answer_is_replaced(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "MAX_UNCHECKED_S", -1.0)
    async with engine.connect() as connection:
        raw: Any = (await connection.get_raw_connection()).dbapi_connection
        first = await backend_of(connection)

    def fail(self: Any) -> None:
        raise engine.dialect.loaded_dbapi.OperationalError("no answer")  # type: ignore[union-attr]

    monkeypatch.setattr(type(raw), "ping", fail)
    opened: list[Any] = []
    event.listen(engine.sync_engine, "connect", lambda connection, record: opened.append(connection))
    async with engine.connect() as connection:
        assert await backend_of(connection) != first
    assert len(opened) == 1
