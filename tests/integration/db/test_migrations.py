"""The migrations make the schema of `tables.py`, and can be taken back."""

from pathlib import Path

import asyncpg

from alembic import command
from app.db import migrations
from app.db.migrations import config, downgrade, upgrade


def test_the_migrations_make_what_the_tables_say(empty_database_url: str) -> None:
    upgrade(empty_database_url)
    command.check(config(empty_database_url))


async def _tables(url: str) -> set[str]:
    connection = await asyncpg.connect(url)
    rows = await connection.fetch("select tablename from pg_tables where schemaname = 'public'")
    await connection.close()
    return {row["tablename"] for row in rows}


def test_every_migration_can_be_taken_back(empty_database_url: str) -> None:
    import asyncio

    upgrade(empty_database_url)
    assert "sessions" in asyncio.run(_tables(empty_database_url))
    downgrade(empty_database_url)
    assert asyncio.run(_tables(empty_database_url)) == {"alembic_version"}
    upgrade(empty_database_url)


def test_the_migrations_folder_is_no_package() -> None:
    """With `backend/` on the path it would hide the library of the same name."""
    assert not (Path(migrations.__file__).parents[2] / "alembic" / "__init__.py").exists()
