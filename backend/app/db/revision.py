"""Which schema the code is written for, and which one a database has; alembic itself takes long to import."""

from functools import cache
from pathlib import Path

import asyncpg

from app.db.pool import Database

_VERSIONS = Path(__file__).parents[2] / "alembic" / "versions"


@cache
def newest() -> str:
    """The code's: migrations are numbered, and their files begin with the number."""
    return max(path.name.partition("_")[0] for path in _VERSIONS.glob("[0-9]*_*.py"))


async def migrated_to(database: Database) -> str | None:
    """The database's; None for one that was never migrated, or whose tables are gone."""
    try:
        row = await database.row("select version_num from alembic_version")
        await database.row("select 1 from sessions where false")
    except asyncpg.UndefinedTableError:
        return None
    return str(row["version_num"]) if row else None


def lack_of_schema(version: str | None) -> str | None:
    """What is wrong with a database at this version, and what to do.

    One newer than the code is well: that is how a rolling upgrade begins.
    """
    if version is None:
        return "The database has no Labcrew schema. Run: labcrew migrate"
    if version < newest():
        return f"The schema is at {version}, and this version needs {newest()}. Run: labcrew migrate"
    return None
