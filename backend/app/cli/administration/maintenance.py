"""`labcrew backup`, `restore` and `retention`: what an operator does for data that must last, or must not."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.connection.addresses import database_address
from app.cli.sessions.run import AsJson
from app.errors import Conflict
from app.settings import Settings, load_settings

if TYPE_CHECKING:
    from app.cli.administration.backup_folder import Manifest
    from app.db.pool import Database
    from app.storage.blobs import BlobStore

_NO_SWEEP_S = 6 * 3600.0

Folder = Annotated[Path, typer.Argument(help="Where backups are kept; each gets a folder there.")]
Backup = Annotated[Path, typer.Argument(help="The folder of one backup.")]
NoBlobs = Annotated[
    bool, typer.Option("--no-blobs", help="Leave out blobs outside Postgres: their store has its own backups.")
]
Delete = Annotated[bool, typer.Option("--delete", help="Let it go now; without it, only say what would go.")]


def backup(folder: Folder, no_blobs: NoBlobs = False, as_json: AsJson = False) -> None:
    """Back everything up while the service goes on: the database by one snapshot, and blobs outside it."""
    settings = load_settings()
    with database_address(settings) as url:
        place, manifest = asyncio.run(_back_up(settings, url, folder.absolute(), no_blobs))
    if as_json:
        typer.echo(json.dumps({"backup": str(place), "rows": dict(manifest.rows), "blobs": manifest.blobs}))
    else:
        typer.echo(f"{place}: {_contents(manifest)}, {manifest.size_bytes:,} bytes. SECRET_KEY is not in it.")


def restore(backup: Backup) -> None:
    """Read a backup into an empty database; what waited or ran goes on when a worker is started."""
    from app.db.migrations import upgrade  # noqa: PLC0415 - here and below: each command pays for its own

    settings = load_settings()
    with database_address(settings) as url:
        _make_room(url)
        manifest = asyncio.run(_bring_back(settings, url, backup.absolute()))
        upgrade(url)
    typer.echo(f"Restored: {_contents(manifest)}. Start the service, and what was under way goes on.")


def retention(delete: Delete = False, as_json: AsJson = False) -> None:
    """Show what is past its time by RETENTION; with --delete let it go now, as workers do every hour."""
    from app.db.migrations import upgrade  # noqa: PLC0415

    settings = load_settings()
    with database_address(settings) as url:
        upgrade(url)
        rows = asyncio.run(_retire(settings, url, delete))
    if as_json:
        typer.echo(json.dumps(rows))
        return
    for row in rows:
        days = f"kept {row['keep_days']:g} days" if row["keep_days"] else "kept for ever"
        typer.echo(f"{row['kind']:<13} {days:<18} {row['number']:>9,} {'gone' if delete else 'due'}")


def _contents(manifest: "Manifest") -> str:
    rows = manifest.rows
    blobs = f", {manifest.blobs:,} blobs beside it" if manifest.blobs else ""
    return f"{rows['users']:,} accounts, {rows['datasets']:,} datasets, {rows['sessions']:,} sessions{blobs}"


async def _back_up(settings: Settings, url: str, folder: Path, no_blobs: bool) -> "tuple[Path, Manifest]":
    from app.cli.administration.backup_folder import back_up  # noqa: PLC0415
    from app.deletion.periodic_work import postpone_chore  # noqa: PLC0415

    async with _database(url) as database:
        await postpone_chore(database, "retention", _NO_SWEEP_S)
        outside = None if no_blobs else _outside(settings, database)
        return await back_up(folder, url, outside)


async def _bring_back(settings: Settings, url: str, place: Path) -> "Manifest":
    from app.cli.administration.backup_folder import bring_back  # noqa: PLC0415

    async with _database(url) as database:
        return await bring_back(place, url, _outside(settings, database), typer.echo)


async def _retire(settings: Settings, url: str, delete: bool) -> list[dict[str, object]]:
    """List each kind with its retention in days and the number of rows due, or deleted with `delete`."""
    from app.deletion.expiry import Expiry  # noqa: PLC0415
    from app.resources import open_blobs  # noqa: PLC0415

    async with _database(url) as database:
        expiry = Expiry(database, open_blobs(settings, database, 30.0), settings.retention)
        due = [due_rows async for due_rows in expiry.count_due()]
        # What was deleted, not what was due before: more may have come due between the two.
        numbers = (
            dict([category async for category in expiry.run()])
            if delete
            else {category.kind: category.count for category in due}
        )
    return [
        {"kind": category.kind, "keep_days": category.keep_days, "number": numbers[category.kind]}
        for category in due
    ]


def _outside(settings: Settings, database: "Database") -> "BlobStore | None":
    from app.resources import open_blobs  # noqa: PLC0415

    if settings.artifact_storage_path is None and settings.bucket is None:
        return None
    return open_blobs(settings, database, 30.0)


@asynccontextmanager
async def _database(url: str) -> "AsyncIterator[Database]":
    from app.db.pool import Database  # noqa: PLC0415

    database = await Database.open(url, size=2)
    try:
        yield database
    finally:
        await database.close()


def _make_room(url: str) -> None:
    """An empty schema, which starting the service makes, goes: the backup brings its own."""
    from app.db.dump import is_empty  # noqa: PLC0415
    from app.db.migrations import downgrade  # noqa: PLC0415

    if not asyncio.run(is_empty(url)):
        raise Conflict(
            "database_not_empty", "The database holds accounts or data. Restore into a new, empty one."
        )
    downgrade(url)
