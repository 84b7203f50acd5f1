"""Hot statements: plain SQL, prepared once per connection, repeated while Postgres is away."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self

import asyncpg
import sqlalchemy.exc
from sqlalchemy.engine import make_url

from app.errors import is_disk_full
from app.observability.metrics.stores import STATEMENTS_REPEATED

Record = Mapping[str, Any]
"""A row by column name."""

_AWAY = (
    OSError,
    TimeoutError,
    sqlalchemy.exc.TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.DeadlockDetectedError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)

_CLOSE_S = 5.0


def is_away(error: BaseException) -> bool:
    """Check for a lost connection to Postgres. (DataError is an InterfaceError too, but a fault of ours.)

    An OSError may also be about our own files, of which only a full disk is told apart.
    """
    cause = _driver_error(error)
    return isinstance(cause, _AWAY) and not isinstance(cause, asyncpg.DataError) and not is_disk_full(cause)


def _driver_error(error: BaseException) -> BaseException:
    """Unwrap the error of the driver, which SQLAlchemy wraps twice."""
    wrapped = error.orig if isinstance(error, sqlalchemy.exc.DBAPIError) else None
    return (wrapped.__cause__ or wrapped) if wrapped else error


async def _keep_as_is(connection: Any) -> None:
    """Nothing to reset between statements that change no setting; the default costs a round trip each."""


class Database:
    """A pool of connections on one event loop.

    Every statement is a transaction of its own. One that met a lost connection is sent again for `patience_s`
    seconds, so it must be safe to run twice: guard it, or say `on conflict do nothing`.
    """

    def __init__(self, pool: "asyncpg.Pool", patience_s: float, dsn: str) -> None:
        self.pool = pool
        self._patience_s = patience_s
        self._dsn = dsn

    @classmethod
    async def open(cls, database_url: str, size: int = 8, patience_s: float = 30.0) -> Self:
        dsn = make_url(database_url).set(drivername="postgresql").render_as_string(hide_password=False)
        pool = await asyncpg.create_pool(
            dsn,
            min_size=0,
            init_size=1,
            max_size=size,
            command_timeout=30,
            reset=_keep_as_is,
            max_inactive_connection_lifetime=0,
        )
        return cls(pool, patience_s, dsn)

    async def close(self) -> None:
        """Let running statements end, but not for long."""
        try:
            async with asyncio.timeout(_CLOSE_S):
                await self.pool.close()
        except TimeoutError:
            self.pool.terminate()

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[Any]:
        """A connection of its own for what takes long: others need not wait for it, and it may be cut."""
        connection = await asyncpg.connect(self._dsn)
        try:
            yield connection
        except BaseException:
            connection.terminate()
            raise
        await connection.close()

    async def row(self, sql: str, *args: Any) -> Record | None:
        """The first row, or None."""
        try:
            row: Record | None = await self.pool.fetchrow(sql, *args)
            return row
        except Exception as error:
            if not is_away(error):
                raise
        rows = await self._again(sql, args)
        return rows[0] if rows else None

    async def rows(self, sql: str, *args: Any) -> Sequence[Record]:
        try:
            rows: Sequence[Record] = await self.pool.fetch(sql, *args)
            return rows
        except Exception as error:
            if not is_away(error):
                raise
        return await self._again(sql, args)

    async def _again(self, sql: str, args: Sequence[Any]) -> Sequence[Record]:
        until = time.monotonic() + self._patience_s
        pause_s = 0.05
        while True:
            await asyncio.sleep(pause_s * random.uniform(0.5, 1))  # noqa: S311 - spreads the crowd
            STATEMENTS_REPEATED.inc()
            try:
                rows: Sequence[Record] = await self.pool.fetch(sql, *args)
                return rows
            except Exception as error:
                if not is_away(error) or time.monotonic() > until:
                    raise
            pause_s = min(2 * pause_s, 0.5)
