"""Revisions of the schema: the code's and a database's, read without importing alembic, which is slow."""

from functools import cache
from pathlib import Path

import asyncpg

from app.db.pool import Database

_VERSIONS = Path(__file__).parents[2] / "alembic" / "versions"


@cache
def code_revision() -> str:
    """Return the newest revision of the code; files of migrations begin with its number."""
    return max(path.name.partition("_")[0] for path in _VERSIONS.glob("[0-9]*_*.py"))


async def database_revision(database: Database) -> str | None:
    """Return the revision of a database; None for one that was never migrated or has no tables."""
    try:
        revision: str | None = await database.value("select version_num from alembic_version")
        # The revision alone is no schema: its tables may have been dropped.
        await database.row("select 1 from sessions where false")
    except asyncpg.UndefinedTableError:
        return None
    return revision


def schema_problem(version: str | None) -> str | None:
    """Return the problem of a database at this revision with its remedy, or None.

    A revision newer than the code is no problem: a rolling upgrade migrates first.
    """
    if version is None:
        return "The database has no Labcrew schema. Run: labcrew migrate"
    # Revisions are numbers of one width, so their texts compare as the numbers do.
    if version < code_revision():
        return f"The schema is at {version}, and this version needs {code_revision()}. Run: labcrew migrate"
    return None
