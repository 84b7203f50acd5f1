"""What must answer before this process is ready, what it is served without, and what to do about either."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from app.db.revision import lack_of_schema, migrated_to
from app.errors import Unavailable
from app.redis_address import refuse_cluster
from app.resources import Resources
from app.sessions.workers import count_live_workers, count_stranded, missing_versions, missing_workers

_PATIENCE_S = 2.0

Probe = Callable[[Resources], Awaitable[None]]
"""Raises `_Missing` for what answers and lacks something, and anything for what does not answer."""


class _Missing(Exception):
    """It answers, but lacks something; the text says what to do."""


def _raise(lack: str | None) -> None:
    if lack:
        raise _Missing(lack)


async def _postgres(resources: Resources) -> None:
    await resources.database.row("select 1")


async def _schema(resources: Resources) -> None:
    _raise(lack_of_schema(await migrated_to(resources.database)))


async def _redis(resources: Resources) -> None:
    try:
        await refuse_cluster(resources.redis)
    except Unavailable as refusal:
        raise _Missing(refusal.detail) from None


async def _workers(resources: Resources) -> None:
    _raise(missing_workers(await count_live_workers(resources.database)))


async def _sessions(resources: Resources) -> None:
    _raise(missing_versions(await count_stranded(resources.database)))


async def _cells(resources: Resources) -> None:
    isolation = resources.cells.isolation_now()
    if isolation is None:
        raise _Missing("The process that computes has not answered yet. Its log says why: labcrew doctor")
    if isolation.halt:
        raise _Missing(isolation.halt)
    if isolation.refusal:
        rest = "; SQL and uploads run with limits only" if isolation.tier == "none" else ""
        raise _Missing(f"{isolation.refusal} Programs and stored models are refused{rest}: labcrew doctor")


NEEDED: Mapping[str, Probe] = {"postgres": _postgres, "schema": _schema, "redis": _redis}
"""Without one of them requests fail."""

WANTED: Mapping[str, Probe] = {"workers": _workers, "sessions": _sessions, "cells": _cells}
"""Without these, requests are answered and what they ask for waits or is refused."""


ON_POSTGRES = ("schema", "workers", "sessions")
"""Says nothing while Postgres is away."""


@dataclass(frozen=True)
class Standing:
    """By the name of each probe that found something: one sentence; no address, no secret."""

    missing: Mapping[str, str]
    limited: Mapping[str, str]


async def look(resources: Resources) -> Standing:
    needed, wanted = await asyncio.gather(_all(NEEDED, resources), _all(WANTED, resources))
    if "postgres" in needed:
        for told in (needed, wanted):
            for name in ON_POSTGRES:
                told.pop(name, None)
    return Standing(needed, wanted)


async def _all(probes: Mapping[str, Probe], resources: Resources) -> dict[str, str]:
    answers = await asyncio.gather(*(_probe(probe, resources) for probe in probes.values()))
    return {name: why for name, why in zip(probes, answers, strict=True) if why is not None}


async def _probe(probe: Probe, resources: Resources) -> str | None:
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await probe(resources)
    except _Missing as missing:
        return str(missing)
    except TimeoutError:
        return f"It did not answer within {_PATIENCE_S:g} s."
    except Exception as error:  # noqa: BLE001 - a probe reports every way of failing
        return f"It does not answer ({type(error).__name__})."
    return None
