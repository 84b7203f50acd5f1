"""A pool of asyncpg connections for plain SQL statements, which are sent again while Postgres is away."""

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

_CONNECTION_ERRORS = (
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

_MAX_CLOSE_S = 5.0
"""Time for running statements at shutdown, less than the grace that supervisors leave a process."""

_RETRY_PAUSE_S, _MAX_RETRY_PAUSE_S = 0.05, 0.5
"""Pauses double between these bounds: a restart of Postgres takes one to two seconds."""


def is_away(error: BaseException) -> bool:
    """Check for a lost connection to Postgres.

    An OSError may also concern local files; only a full disk can be distinguished from a lost connection.
    """
    cause = _driver_error(error)
    # DataError is an InterfaceError too, but the fault of a statement: sending it again would not help.
    return (
        isinstance(cause, _CONNECTION_ERRORS)
        and not isinstance(cause, asyncpg.DataError)
        and not is_disk_full(cause)
    )


def _driver_error(error: BaseException) -> BaseException:
    """Unwrap the error of the driver, which SQLAlchemy wraps twice."""
    wrapped = error.orig if isinstance(error, sqlalchemy.exc.DBAPIError) else None
    return (wrapped.__cause__ or wrapped) if wrapped else error


async def _skip_reset(connection: Any) -> None:
    """Skip the pool's reset: no statement changes a setting, and the default costs a round trip each time."""


class Database:
    """A pool of connections on one event loop.

    Every statement is a transaction of its own. After a lost connection it is sent again for up to `patience_s`
    seconds, so it must be safe to run twice: with a guard, or with `on conflict do nothing`.
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
            # A server that takes a statement and never answers counts as lost: the statement is sent again.
            command_timeout=30,
            reset=_skip_reset,
            # Idle connections stay: the statement after a pause would wait for a new one.
            max_inactive_connection_lifetime=0,
        )
        return cls(pool, patience_s, dsn)

    async def close(self) -> None:
        """Wait up to _MAX_CLOSE_S for running statements, then cut them."""
        try:
            async with asyncio.timeout(_MAX_CLOSE_S):
                await self.pool.close()
        except TimeoutError:
            self.pool.terminate()

    @asynccontextmanager
    async def dedicated_connection(self) -> AsyncIterator[Any]:
        """Open a connection outside the pool for a long operation; it is cut when the block raises."""
        connection = await asyncpg.connect(self._dsn)
        try:
            yield connection
        # Also when cancelled: closing politely would wait for what the server still does.
        except BaseException:
            connection.terminate()
            raise
        await connection.close()

    async def row(self, sql: str, *args: Any) -> Record | None:
        """Return the first row, or None."""
        try:
            row: Record | None = await self.pool.fetchrow(sql, *args)
            return row
        except Exception as error:
            if not is_away(error):
                raise
        # Outside of the handler, so that an error of the retry does not drag the first one along.
        rows = await self._retry(sql, args)
        return rows[0] if rows else None

    async def rows(self, sql: str, *args: Any) -> Sequence[Record]:
        try:
            rows: Sequence[Record] = await self.pool.fetch(sql, *args)
            return rows
        except Exception as error:
            if not is_away(error):
                raise
        return await self._retry(sql, args)

    async def value(self, sql: str, *args: Any) -> Any:
        """Return the first column of the first row; None without a row."""
        row = await self.row(sql, *args)
        return next(iter(row.values())) if row else None

    async def column(self, sql: str, *args: Any) -> list[Any]:
        """Return the first column of all rows."""
        return [next(iter(row.values())) for row in await self.rows(sql, *args)]

    async def _retry(self, sql: str, args: Sequence[Any]) -> Sequence[Record]:
        deadline_s = time.monotonic() + self._patience_s
        pause_s = _RETRY_PAUSE_S
        while True:
            # All processes lost Postgres at the same moment, and should not come back in step.
            await asyncio.sleep(pause_s * random.uniform(0.5, 1))  # noqa: S311 - jitter
            STATEMENTS_REPEATED.inc()
            try:
                rows: Sequence[Record] = await self.pool.fetch(sql, *args)
                return rows
            except Exception as error:
                if not is_away(error) or time.monotonic() > deadline_s:
                    raise
            pause_s = min(2 * pause_s, _MAX_RETRY_PAUSE_S)
