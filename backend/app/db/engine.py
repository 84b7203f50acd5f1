"""The async SQLAlchemy engine: created after fork on the process's event loop, never shared across loops."""

import time
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

MAX_UNCHECKED_S = 1.0
"""Seconds since its last use after which a connection is asked for an answer. A busy one was in use a moment
ago, and with the question, a transaction of its own, every unit of work would take twice its round trips."""


def async_url(database_url: str) -> str:
    """Return a `postgresql://` address with the asyncpg driver."""
    return make_url(database_url).set(drivername="postgresql+asyncpg").render_as_string(hide_password=False)


def create_engine(database_url: str, pool_size: int = 8) -> AsyncEngine:
    engine = create_async_engine(
        async_url(database_url),
        pool_size=pool_size,
        max_overflow=pool_size,
        hide_parameters=True,  # errors are logged, and parameters hold users' data
    )
    _replace_dead_connections(engine.sync_engine)
    return engine


def _replace_dead_connections(engine: Engine) -> None:
    """Replace connections from before a restart of Postgres, instead of failing the request that gets one.

    As SQLAlchemy's `pool_pre_ping` does, without its question where the driver or a recent use has the answer.
    """

    @event.listens_for(engine, "checkin")
    def note_use(connection: Any, record: Any) -> None:
        record.info["used_at"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def check(connection: Any, record: Any, fairy: Any) -> None:
        used_at = record.info.get("used_at")
        if used_at is None:
            return  # it is new
        # The driver has seen the end of a connection that Postgres closed.
        if connection.driver_connection.is_closed():
            raise InvalidatePoolError
        if time.monotonic() - used_at > MAX_UNCHECKED_S:
            try:
                connection.ping()
            except engine.dialect.loaded_dbapi.Error as error:
                raise InvalidatePoolError from error
