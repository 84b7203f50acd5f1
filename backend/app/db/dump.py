"""A database as one file and back, by Postgres' own programs; consistent, while the service goes on."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
from sqlalchemy.engine import make_url

from app.errors import Unavailable
from app.servers.clients import client_program

COUNTED = ("users", "datasets", "sessions", "steps", "calls", "events", "artifacts", "blobs", "price_bars")


@dataclass(frozen=True)
class Dumped:
    """Rows of each counted table in the dump, and the schema's revision."""

    rows: Mapping[str, int]
    revision: str | None


async def dump(database_url: str, path: Path) -> Dumped:
    """Write the whole database to `path`, in pg_dump's compressed form. Raises Unavailable."""
    connection = await asyncpg.connect(_dsn(database_url))
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            snapshot = await connection.fetchval("select pg_export_snapshot()")
            dumped = Dumped(await count_rows(connection), await revision_of(connection))
            await _run("pg_dump", database_url, f"--snapshot={snapshot}", "--format=custom", f"--file={path}")
    finally:
        await connection.close()
    return dumped


async def restore(database_url: str, path: Path) -> None:
    """Read a dump into an empty database: whole, or nothing. Raises Unavailable."""
    await _run("pg_restore", database_url, "--single-transaction", "--exit-on-error", str(path))


async def is_empty(database_url: str) -> bool:
    """Has it no tables, or only ours without any user, session or blob?"""
    connection = await asyncpg.connect(_dsn(database_url))
    try:
        tables = await connection.fetch("select tablename from pg_tables where schemaname = 'public'")
        names = {row["tablename"] for row in tables}
        if "users" not in names:
            return not names - {"alembic_version"}
        has_rows = "exists(select from users) or exists(select from sessions) or exists(select from blobs)"
        return not await connection.fetchval(f"select {has_rows}")
    finally:
        await connection.close()


async def clear(database_url: str) -> None:
    """Take the empty schema away, so that a dump can be read."""
    connection = await asyncpg.connect(_dsn(database_url))
    try:
        await connection.execute("drop table if exists alembic_version")
    finally:
        await connection.close()


async def rows_of(database_url: str) -> Mapping[str, int]:
    connection = await asyncpg.connect(_dsn(database_url))
    try:
        return await count_rows(connection)
    finally:
        await connection.close()


async def count_rows(connection: Any) -> Mapping[str, int]:
    counts = ", ".join(f"(select count(*) from {name}) as {name}" for name in COUNTED)  # noqa: S608 - names of ours
    return dict(await connection.fetchrow(f"select {counts}"))


async def revision_of(connection: Any) -> str | None:
    """Read the revision of the schema; None without one."""
    if await connection.fetchval("select to_regclass('alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval("select version_num from alembic_version")
    return revision


def _dsn(database_url: str) -> str:
    return make_url(database_url).set(drivername="postgresql").render_as_string(hide_password=False)


async def _run(program: str, database_url: str, *options: str) -> None:
    """The password goes through the environment: a command line is everybody's to read."""
    url = make_url(database_url).set(drivername="postgresql")
    address = url._replace(password=None).render_as_string()
    environment = {**os.environ, "PGPASSWORD": str(url.password or ""), "LC_ALL": "C"}
    process = await asyncio.create_subprocess_exec(
        client_program(program),
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
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        words = stderr.decode(errors="replace").strip().splitlines()
        raise Unavailable("dump_failed", f"{program} failed: {words[0] if words else 'it stderr nothing'}")
