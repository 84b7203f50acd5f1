"""Migrate a database to the schema of this code, or back."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg
from sqlalchemy.engine import make_url

from app.db.dump import read_revision
from app.db.revision import code_revision
from app.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

_FOLDER = Path(__file__).parents[2] / "alembic"


def config(database_url: str, *folders: Path) -> "Config":
    """Make Alembic's settings; no file holds the database's address. `folders`: further migrations."""
    from alembic.config import Config  # noqa: PLC0415 - here and below: a database of this version needs none

    settings = Config()
    settings.set_main_option("script_location", str(_FOLDER))
    settings.set_main_option("path_separator", "os")
    version_folders = (_FOLDER / "versions", *folders)
    settings.set_main_option("version_locations", os.pathsep.join(map(str, version_folders)))
    # Alembic's settings are those of an INI file, which reads a percent sign as a reference.
    settings.set_main_option("sqlalchemy.url", database_url.replace("%", "%%"))
    return settings


def upgrade(database_url: str, revision: str = "head") -> bool:
    """Migrate up, in an event loop of its own: call it from a thread where one is running.

    Returns False for a database that has the schema of this code already.
    Raises Conflict when a newer Labcrew has migrated the database to a revision that this one does not know.
    """
    current = asyncio.run(_revision(database_url))
    if revision == "head" and current == code_revision():
        return False
    if current is not None and not is_known(current):
        raise Conflict(
            "database_ahead",
            f"The database has the schema {current} of a newer Labcrew, and this one knows up to {head()}. "
            "Install the newer version, or take the schema back with it first: docs/operations.md, Upgrade.",
            revision=current,
        )
    from alembic import command  # noqa: PLC0415

    command.upgrade(config(database_url), revision)
    return True


def downgrade(database_url: str, revision: str = "base") -> None:
    """Migrate down. Raises InvalidInput for a revision that this code does not know."""
    if revision != "base" and not is_known(revision):
        raise InvalidInput("unknown_revision", f"There is no revision {revision}; the newest is {head()}.")
    from alembic import command  # noqa: PLC0415

    command.downgrade(config(database_url), revision)


def head() -> str:
    """Return the newest revision that this code knows."""
    return str(_scripts().get_current_head())


def is_known(revision: str) -> bool:
    return revision in {script.revision for script in _scripts().walk_revisions()}


def _scripts() -> "ScriptDirectory":
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    return ScriptDirectory.from_config(config("postgresql://"))


async def _revision(database_url: str) -> str | None:
    dsn = make_url(database_url).set(drivername="postgresql").render_as_string(hide_password=False)
    connection = await asyncpg.connect(dsn)
    try:
        return await read_revision(connection)
    finally:
        await connection.close()
