"""`labcrew blobs copy`: take every blob to another store, before the service is told of it."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from app.cli.connection.addresses import database_address
from app.settings import Settings, load_settings

app = typer.Typer(help="The bytes of datasets, models and reports: take them elsewhere.", no_args_is_help=True)

To = Annotated[str, typer.Option(help="`postgres`, `s3://bucket/prefix`, or a folder.")]


@app.command("copy")
def copy(to: To) -> None:
    """Copy every blob into another store; begun again, it copies what is missing. Nothing is deleted."""
    from app.db.migrations import upgrade  # noqa: PLC0415 - here and below: each command pays for its own

    settings = load_settings()
    with database_address(settings) as url:
        upgrade(url)
        copied, present = asyncio.run(_copy(settings, _elsewhere(to), url))
    typer.echo(f"{copied:,} blobs were copied to {to}, {present:,} were there.")


def _elsewhere(to: str) -> Settings:
    """The settings of a service that keeps its blobs there; raises InvalidInput."""
    s3 = to if "://" in to else None
    folder = None if s3 or to == "postgres" else Path(to).absolute()
    return load_settings(blob_store=s3, artifact_storage_path=folder)


async def _copy(source: Settings, target: Settings, url: str) -> tuple[int, int]:
    from app.db.pool import Database  # noqa: PLC0415
    from app.resources import open_blobs  # noqa: PLC0415
    from app.storage.copying import copy_blobs  # noqa: PLC0415

    database = await Database.open(url, size=4)
    try:
        stores = [open_blobs(settings, database, 30.0) for settings in (source, target)]
        done = [new async for _, new in copy_blobs(*stores)]
    finally:
        await database.close()
    return sum(done), len(done) - sum(done)
