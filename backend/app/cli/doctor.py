"""`labcrew doctor`: does this machine have what the service needs? One line a thing, and what to do."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from app.cli.addresses import with_addresses
from app.cli.exit_codes import Exit
from app.cli.machine import MACHINE, elsewhere
from app.errors import LabError, Unavailable
from app.settings import Settings, load_settings

ServersOnly = Annotated[bool, typer.Option("--servers", help="Look at Postgres and Redis only.")]

Check = Callable[[Settings], Awaitable[str]]
"""Says in a few words what is well; raises for what is not."""


def doctor(servers: ServersOnly = False) -> None:
    """Check the machine, the servers, the chat model and the cells' walls."""
    settings = load_settings()
    checks = _SERVERS if servers else {**_SERVERS, **_REST}
    well = [asyncio.run(_examine(name, check, settings)) for name, check in checks.items()]
    raise typer.Exit(Exit.DONE if all(well) else Exit.UNAVAILABLE)


async def _examine(name: str, check: Check, settings: Settings) -> bool:
    try:
        async with asyncio.timeout(60):
            typer.echo(f"well   {name:<11} {await check(settings)}")
    except LabError as error:
        typer.echo(f"wrong  {name:<11} {error.detail}")
    except Exception as error:  # noqa: BLE001 - a check reports every way of failing
        typer.echo(f"wrong  {name:<11} {type(error).__name__}: {error}")
    else:
        return True
    return False


async def _postgres(settings: Settings) -> str:
    from app.db.pool import Database  # noqa: PLC0415 - here and below: each check pays for its own imports

    database = await Database.open(with_addresses(settings).database_url or "", size=1)
    try:
        row = await database.row("SELECT current_setting('server_version') AS version")
    finally:
        await database.close()
    return f"version {row['version'] if row else 'unknown'}"


async def _schema(settings: Settings) -> str:
    from app.db.pool import Database  # noqa: PLC0415
    from app.db.revision import database_revision, schema_problem  # noqa: PLC0415

    database = await Database.open(with_addresses(settings).database_url or "", size=1)
    try:
        version = await database_revision(database)
    finally:
        await database.close()
    if lack := schema_problem(version):
        raise Unavailable("schema_missing", lack)
    return f"at {version}"


async def _workers(settings: Settings) -> str:
    from app.db.pool import Database  # noqa: PLC0415
    from app.sessions.workers import (  # noqa: PLC0415
        count_live_workers,
        count_stranded,
        missing_versions,
        missing_workers,
    )

    database = await Database.open(with_addresses(settings).database_url or "", size=1)
    try:
        live, waiting = await count_live_workers(database), await count_stranded(database)
    finally:
        await database.close()
    if lack := missing_workers(live) or missing_versions(waiting):
        raise Unavailable("workers_missing", lack)
    return ", ".join(f"{count} on {queue}" for queue, count in live.items())


async def _figures(settings: Settings) -> str:
    """Closed is no fault."""
    api = "the API shows them"
    if settings.metrics_token:
        api += " to who sends METRICS_TOKEN"
    elif settings.production:
        api = "the API shows them to nobody until METRICS_TOKEN is set"
    if settings.metrics_port is None:
        return f"{api}; workers show none until METRICS_PORT is set"
    workers = f"workers from {settings.metrics_host}:{settings.metrics_port}"
    if settings.metrics_token is None:
        workers += ", to this machine only until METRICS_TOKEN is set"
    return f"{api}; {workers}"


async def _redis(settings: Settings) -> str:
    from app.redis_address import open_redis, parse_sentinel_service, refuse_cluster  # noqa: PLC0415

    address = with_addresses(settings).redis_address or ""
    async with open_redis(address, socket_timeout=5) as redis:
        await refuse_cluster(redis)
        version = f"version {(await redis.info('server'))['redis_version']}"
    service = parse_sentinel_service(address)
    return f"{version}, the master of {service.name} now" if service else version


async def _blob_store(settings: Settings) -> str:
    bucket = settings.bucket
    if bucket is None:
        return str(settings.artifact_storage_path or "in Postgres")
    from app.storage.s3 import S3Blobs  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="labcrew-doctor-") as folder:
        await S3Blobs(replace(bucket, max_retry_s=5.0), Path(folder)).check_access()
    return f"{bucket.address}: lists, writes, reads and deletes"


async def _chat_model(settings: Settings) -> str:
    from langchain_core.messages import AIMessage  # noqa: PLC0415

    from app.llm.providers import open_chat_models  # noqa: PLC0415
    from app.tools.registry import EVERY_AGENT  # noqa: PLC0415

    models_by_agent = [open_chat_models(settings.chat, agent, lambda _: AIMessage("")) for agent in EVERY_AGENT]
    return ", ".join(dict.fromkeys(model.name for models in models_by_agent for model in models))


async def _cells(settings: Settings) -> str:
    from app.sandbox.container import engine_refusal  # noqa: PLC0415
    from app.sandbox.process import ProcessProvider  # noqa: PLC0415

    container = settings.cells.container
    if container and (refusal := engine_refusal(container.image)):
        raise Unavailable("cells_unavailable", refusal)
    with tempfile.TemporaryDirectory(prefix="labcrew-doctor-") as folder:
        cells = ProcessProvider(elsewhere(settings.cells, Path(folder)))
        try:
            isolation = await cells.isolation()
        finally:
            await cells.close()
    if refusal := isolation.halt or isolation.refusal:
        raise Unavailable("cells_not_isolated", f"{refusal} See docs/sandbox.md.")
    weaker = "".join(f"; not {tier}: {why}" for tier, why in isolation.missing.items())
    return f"{settings.sandbox_provider}: code that agents write runs behind walls ({isolation.tier}{weaker})"


_SERVERS: dict[str, Check] = {"Postgres": _postgres, "schema": _schema, "Redis": _redis}
_REST: dict[str, Check] = {
    **MACHINE,
    "workers": _workers,
    "figures": _figures,
    "blobs": _blob_store,
    "chat model": _chat_model,
    "cells": _cells,
}
