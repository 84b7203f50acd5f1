"""The async SQLAlchemy engine: created after fork on the process's event loop, never shared across loops."""

from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine


def async_url(database_url: str) -> str:
    """Return a `postgresql://` address with the asyncpg driver."""
    return make_url(database_url).set(drivername="postgresql+asyncpg").render_as_string(hide_password=False)


def create_engine(database_url: str, pool_size: int = 8) -> AsyncEngine:
    return create_async_engine(
        async_url(database_url),
        pool_size=pool_size,
        max_overflow=pool_size,
        # A connection from before a restart of Postgres is
        # replaced, instead of failing the request that gets it.
        pool_pre_ping=True,
        hide_parameters=True,  # errors are logged, and parameters hold users' data
    )
