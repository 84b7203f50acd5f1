"""`labcrew doctor`: a line of text for each requirement of the service, with the remedy if it is not met."""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from app.cli.administration.machine_checks import MACHINE, elsewhere
from app.cli.connection.addresses import needs_no_service, with_addresses
from app.cli.terminal.exit_codes import Exit
from app.errors import LabError, Unavailable
from app.settings import Settings, load_settings

ServersOnly = Annotated[bool, typer.Option("--servers", help="Check Postgres and Redis only.")]

Ask = Annotated[bool, typer.Option("--ask", help="Ask each chat model one question, which costs a few tokens.")]

_MAX_CHECK_S = 60.0
"""Time limit of one check in seconds: long enough for the first cells of a slow machine."""

_MAX_PROVIDER_S = 10.0
"""Seconds for the provider of a chat model to confirm key and model."""

_IDLE = (
    "none runs on {home}, and none is needed: `labcrew run` starts its own, `labcrew up` starts one that stays"
)

Check = Callable[[Settings], Awaitable[str]]
"""Returns a short description of what was checked; raises an error that says what to do."""


def doctor(servers: ServersOnly = False, ask: Ask = False) -> None:
    """Check the servers, the machine, the chat model and the isolation of cells."""
    settings = load_settings()
    checks = _SERVER_CHECKS if servers else {**_SERVER_CHECKS, **_MACHINE_CHECKS}
    if ask:
        checks = {**checks, "answers": chat_answers}
    is_idle = not servers and needs_no_service(settings)
    if is_idle:
        _print_line("idle", "service", _IDLE.format(home=settings.home))
    passed = is_idle or _report("service", _service, settings)
    if is_idle or not passed:  # each of its checks would only repeat that nothing runs
        checks = {name: check for name, check in checks.items() if check not in _CHECKS_OF_SERVICE}
    # The inner list makes every check report; all() alone would stop at the first that fails.
    passed = all([passed, *[_report(name, check, settings) for name, check in checks.items()]])
    raise typer.Exit(Exit.DONE if passed else Exit.UNAVAILABLE)


def _report(name: str, check: Check, settings: Settings) -> bool:
    """Print the line of a check and return True if it passed."""
    failure, description = asyncio.run(_run_check(check, settings))
    _print_line("failed" if failure else "ok", name, failure or description)
    return not failure


def _print_line(outcome: str, name: str, description: str) -> None:
    typer.echo(f"{outcome:<6}  {name:<11} {description}")


async def _run_check(check: Check, settings: Settings) -> tuple[str, str]:
    """Return the failure of a check, or an empty text and its description."""
    try:
        async with asyncio.timeout(_MAX_CHECK_S):
            return "", await check(settings)
    except LabError as error:
        return error.detail, ""
    except Exception as error:  # noqa: BLE001 - a check reports every way of failing
        return f"{type(error).__name__}: {error}", ""


async def _service(settings: Settings) -> str:
    """Addresses of Postgres and Redis, of the settings or of a service of this folder."""
    with_addresses(settings)
    if settings.database_url and settings.redis_address:
        return "DATABASE_URL and REDIS_URL are set"
    return f"runs on {settings.home}"


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


async def _metrics(settings: Settings) -> str:
    """Access to the metrics of the API and of workers. Metrics that are not served are no failure."""
    api = "the API serves /metrics"
    if settings.metrics_token:
        api += " to requests with METRICS_TOKEN"
    elif settings.production:
        api = "the API serves no metrics until METRICS_TOKEN is set"
    if settings.metrics_port is None:
        return f"{api}; workers serve none until METRICS_PORT is set"
    workers = f"workers serve them at {settings.metrics_host}:{settings.metrics_port}"
    if settings.metrics_token is None:
        workers += ", to this machine only until METRICS_TOKEN is set"
    return f"{api}; {workers}"


async def _redis(settings: Settings) -> str:
    from app.redis_address import parse_sentinel_service  # noqa: PLC0415
    from app.redis_client import open_redis, refuse_cluster  # noqa: PLC0415

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

    from app.llm.model_probe import find_faults  # noqa: PLC0415
    from app.llm.provider_catalog import describe_use  # noqa: PLC0415
    from app.llm.providers import open_chat_models  # noqa: PLC0415
    from app.tools.agent_names import EVERY_AGENT  # noqa: PLC0415

    for agent in EVERY_AGENT:
        # Opened as agents do, which finds missing packages and settings; nothing is asked yet.
        open_chat_models(settings.chat, agent, lambda _: AIMessage(""))
    if faults := await find_faults(settings.chat, _MAX_PROVIDER_S):
        raise Unavailable("chat_model_unusable", " ".join(faults))
    return " ".join(filter(None, (describe_use(settings.chat), settings.short_turns)))


async def chat_answers(settings: Settings) -> str:
    """Ask each chat model one question through its client, as agents do."""
    from langchain_core.messages import AIMessage, HumanMessage  # noqa: PLC0415

    from app.llm.config import OFFLINE  # noqa: PLC0415
    from app.llm.cost import add_cost  # noqa: PLC0415
    from app.llm.providers import open_chat_models  # noqa: PLC0415
    from app.llm.usage import read_usage  # noqa: PLC0415
    from app.tools.agent_names import EVERY_AGENT  # noqa: PLC0415

    chat, answers = settings.chat, dict[str, str]()
    for agent in EVERY_AGENT:
        for chat_model in open_chat_models(chat, agent, lambda _: AIMessage("")):
            # Agents share models, and each question costs tokens.
            if chat_model.name == OFFLINE or chat_model.name in answers:
                continue
            start = time.perf_counter()
            try:
                answer = await chat_model.model.ainvoke([HumanMessage(_QUESTION)])
            except Exception as error:  # noqa: BLE001 - a provider may fail with anything
                raise Unavailable(
                    "chat_model_failed", f"{chat_model.name} gave no answer: {chat_model.describe_error(error)}"
                ) from None
            usage = add_cost(chat.prices, chat_model.name, read_usage(answer))
            cost = f", {usage['cost_usd']:.6f} USD" if "cost_usd" in usage else ", no price is known"
            tokens = f"{usage.get('input_tokens', 0):.0f} + {usage.get('output_tokens', 0):.0f} tokens"
            seconds = time.perf_counter() - start
            answers[chat_model.name] = (
                f"{chat_model.name} answered {answer.text[:40]!r} in {seconds:.1f} s ({tokens}{cost})"
            )
    return "; ".join(answers.values()) or "no chat model is set: the offline crew needs none"


_QUESTION = "Answer with the single word: ready"


async def _cells(settings: Settings) -> str:
    from app.sandbox.provider.cell_provider import ProcessProvider  # noqa: PLC0415
    from app.sandbox.provider.zygote_container import engine_refusal  # noqa: PLC0415

    container = settings.cells.container
    if container and (refusal := engine_refusal(container.image)):
        raise Unavailable("cells_unavailable", refusal)
    with tempfile.TemporaryDirectory(prefix="labcrew-doctor-") as folder:
        # Elsewhere, so that the cells of a running service are not disturbed.
        cells = ProcessProvider(elsewhere(settings.cells, Path(folder)))
        try:
            isolation = await cells.isolation()
        finally:
            await cells.close()
    if refusal := isolation.halt or isolation.refusal:
        raise Unavailable("cells_not_isolated", f"{refusal} See docs/sandbox.md.")
    weaker = "".join(f"; not {tier}: {why}" for tier, why in isolation.missing.items())
    return f"{settings.sandbox_provider}: programs of agents are isolated ({isolation.tier}{weaker})"


_SERVER_CHECKS: dict[str, Check] = {"Postgres": _postgres, "schema": _schema, "Redis": _redis}
_CHECKS_OF_SERVICE = frozenset({*_SERVER_CHECKS.values(), _workers})
"""Checks that need the addresses of Postgres and Redis."""
_MACHINE_CHECKS: dict[str, Check] = {
    **MACHINE,
    "workers": _workers,
    "metrics": _metrics,
    "blobs": _blob_store,
    "chat model": _chat_model,
    "cells": _cells,
}
