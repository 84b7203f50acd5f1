"""How alembic reaches the database; called by `app.db.migrations`, which hands it the URL, or by itself."""

import asyncio

from sqlalchemy import Connection, pool, text
from sqlalchemy.ext.asyncio import create_async_engine

from alembic import context
from app.cli.connection.addresses import find_database_url
from app.db.engine import async_url
from app.db.tables import Base
from app.settings import load_settings


def _run(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=Base.metadata, compare_server_default=True)
    with context.begin_transaction():
        # Of several processes that start at once, one migrates and the others wait for it.
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('labcrew.migrate'))"))
        context.run_migrations()


async def _online() -> None:
    url = context.config.get_main_option("sqlalchemy.url") or find_database_url(load_settings())
    engine = create_async_engine(async_url(url), poolclass=pool.NullPool)
    async with engine.connect() as connection:
        await connection.run_sync(_run)
        await connection.commit()
    await engine.dispose()


asyncio.run(_online())
