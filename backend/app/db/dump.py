"""Dump and restore of a database with pg_dump and pg_restore; a dump is consistent while the service runs."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
from sqlalchemy.engine import make_url

from app.errors import Unavailable
from app.servers.postgres_clients import client_program

COUNTED_TABLES = (
    "users",
    "datasets",
    "sessions",
    "steps",
    "calls",
    "events",
    "artifacts",
    "blobs",
    "price_bars",
)
"""Tables whose numbers of rows a backup records, so that a restore can be checked against them."""


@dataclass(frozen=True)
class DumpSummary:
    """Number of rows of each counted table in the dump, and the schema's revision."""

    rows: Mapping[str, int]
    revision: str | None


async def dump(database_url: str, path: Path) -> DumpSummary:
    """Write the whole database to `path`, in pg_dump's compressed form. Raises Unavailable."""
    connection = await asyncpg.connect(_dsn(database_url))
    try:
        # pg_dump reads the exported snapshot, so the counts hold for exactly the rows that it writes.
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            snapshot = await connection.fetchval("select pg_export_snapshot()")
            dumped = DumpSummary(await count_rows(connection), await read_revision(connection))
            await _run("pg_dump", database_url, f"--snapshot={snapshot}", "--format=custom", f"--file={path}")
    finally:
        await connection.close()
    return dumped


async def restore(database_url: str, path: Path) -> None:
    """Read a dump into an empty database in one transaction. Raises Unavailable."""
    await _run("pg_restore", database_url, "--single-transaction", "--exit-on-error", str(path))


async def is_empty(database_url: str) -> bool:
    """Check that a database has no tables, or Labcrew's tables without any user, session or blob."""
    connection = await asyncpg.connect(_dsn(database_url))
    try:
        tables = await connection.fetch("select tablename from pg_tables where schemaname = 'public'")
        names = {name for (name,) in tables}
        if "users" not in names:
            return not names - {"alembic_version"}
        has_rows = "exists(select from users) or exists(select from sessions) or exists(select from blobs)"
        return not await connection.fetchval(f"select {has_rows}")
    finally:
        await connection.close()


async def drop_empty_schema(database_url: str) -> None:
    """Drop the revision table of an empty database, so that a dump can be restored into it."""
    connection = await asyncpg.connect(_dsn(database_url))
    try:
        await connection.execute("drop table if exists alembic_version")
    finally:
        await connection.close()


async def count_database_rows(database_url: str) -> Mapping[str, int]:
    connection = await asyncpg.connect(_dsn(database_url))
    try:
        return await count_rows(connection)
    finally:
        await connection.close()


async def count_rows(connection: Any) -> Mapping[str, int]:
    counts = ", ".join(f"(select count(*) from {name}) as {name}" for name in COUNTED_TABLES)  # noqa: S608 - constants
    return dict(await connection.fetchrow(f"select {counts}"))


async def read_revision(connection: Any) -> str | None:
    """Read the revision of the schema; None without one."""
    if await connection.fetchval("select to_regclass('alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval("select version_num from alembic_version")
    return revision


def _dsn(database_url: str) -> str:
    return make_url(database_url).set(drivername="postgresql").render_as_string(hide_password=False)


async def _run(program: str, database_url: str, *options: str) -> None:
    """Run a client program; the password goes through the environment, since all users see command lines."""
    url = make_url(database_url).set(drivername="postgresql")
    address = url._replace(password=None).render_as_string()
    # `LC_ALL`: the first line of an error is shown to an operator, and all our messages are English.
    environment = {**os.environ, "PGPASSWORD": str(url.password or ""), "LC_ALL": "C"}
    process = await asyncio.create_subprocess_exec(
        client_program(program),
        # The database that it is restored into may belong to another role.
        "--no-owner",
        "--no-privileges",
        f"--dbname={address}",
        *options,
        env=environment,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, stderr = await process.communicate()
    # It would run on by itself, and keep its snapshot open.
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        lines = stderr.decode(errors="replace").strip().splitlines()
        raise Unavailable("dump_failed", f"{program} failed: {lines[0] if lines else 'no error message'}")
