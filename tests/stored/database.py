"""Preparation of a running service's database for a stored backup: no credentials, no paths of this machine."""

import asyncio
import io
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

import asyncpg
from sqlalchemy.engine import make_url

from app.cli.connection.service_file import running_service
from app.servers.postgres_clients import client_program


async def delete_blobs(home: Path, blobs: list[str]) -> None:
    """At once: the sweep of unreferenced blobs waits for an hour or more."""
    async with _database(home) as connection:
        await connection.execute("delete from blob_chunks where digest = any($1)", blobs)
        await connection.execute("delete from blobs where digest = any($1)", blobs)


async def uncompressed_dump(home: Path) -> bytes:
    program = client_program("pg_dump")
    options = ("--no-owner", "--no-privileges", "--format=custom", "--compress=none")
    process = await asyncio.create_subprocess_exec(
        program, *options, f"--dbname={_address(home)}", stdout=asyncio.subprocess.PIPE
    )
    dump, _ = await process.communicate()
    assert process.returncode == 0
    return dump


async def forget_credentials(home: Path) -> None:
    async with _database(home) as connection:
        await connection.execute("update users set password_hash = ''")
        await connection.execute("delete from api_keys")
        await connection.execute("delete from refresh_tokens")


async def assert_private(home: Path, folder: Path) -> None:
    """No blob and no text of a row names a folder of this machine."""
    private = re.compile("|".join(re.escape(str(path)) for path in (folder, Path.home(), Path.cwd())).encode())
    async with _database(home) as connection:
        names = await connection.fetch("select tablename from pg_tables where schemaname = 'public'")
        for name in (row["tablename"] for row in names):
            for row in await connection.fetch(f"select t::text as text from {name} t"):
                assert not private.search(row["text"].encode()), f"{name}: {row['text'][:300]}"
        chunks = await connection.fetch("select digest, n, data from blob_chunks order by digest, n")
    blobs: dict[str, bytes] = {}
    for chunk in chunks:
        blobs[chunk["digest"]] = blobs.get(chunk["digest"], b"") + chunk["data"]
    for digest, content in blobs.items():
        for part in _parts(content):
            assert not private.search(part), f"blob {digest}"


def _parts(content: bytes) -> Iterator[bytes]:
    yield content
    file = io.BytesIO(content)
    if is_zipfile(file):
        with ZipFile(file) as archive:
            yield from (archive.read(name) for name in archive.namelist())


@asynccontextmanager
async def _database(home: Path) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(_address(home))
    try:
        yield connection
    finally:
        await connection.close()


def _address(home: Path) -> str:
    addresses = running_service(home)
    assert addresses, "no service runs"
    return make_url(addresses.database_url).set(drivername="postgresql").render_as_string(hide_password=False)
