"""Readiness of this process: required and optional dependencies, and the remedy for each failure."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from app.db.revision import database_revision, schema_problem
from app.errors import Unavailable
from app.redis_client import refuse_cluster
from app.resources import Resources
from app.sessions.workers import count_live_workers, count_stranded, missing_versions, missing_workers

PROBE_TIMEOUT_S = 2.0
"""Shorter than the usual time-out of a health check (5 s), which would see no answer otherwise."""

Probe = Callable[[Resources], Awaitable[None]]
"""Raises `_Deficient` if the dependency answers but cannot serve, and any exception if it does not answer."""


class _Deficient(Exception):
    """A dependency that answers but cannot serve. The text names the remedy."""


def _raise(problem: str | None) -> None:
    if problem:
        raise _Deficient(problem)


async def _postgres(resources: Resources) -> None:
    await resources.database.row("select 1")


async def _schema(resources: Resources) -> None:
    _raise(schema_problem(await database_revision(resources.database)))


async def _redis(resources: Resources) -> None:
    try:
        await refuse_cluster(resources.redis)
    except Unavailable as refusal:
        raise _Deficient(refusal.detail) from None


async def _workers(resources: Resources) -> None:
    _raise(missing_workers(await count_live_workers(resources.database)))


async def _sessions(resources: Resources) -> None:
    _raise(missing_versions(await count_stranded(resources.database)))


async def _cells(resources: Resources) -> None:
    isolation = resources.cells.isolation_now()
    if isolation is None:
        raise _Deficient("The sandbox process has not answered yet. Its log has the reason: labcrew doctor")
    if isolation.halt:
        raise _Deficient(isolation.halt)
    if isolation.refusal:
        rest = "; SQL and uploads run with limits only" if isolation.tier == "none" else ""
        raise _Deficient(f"{isolation.refusal} Programs and stored models are refused{rest}: labcrew doctor")


async def _chat_model(resources: Resources) -> None:
    _raise(" ".join(await resources.chat_health.find_faults()) or None)


REQUIRED: Mapping[str, Probe] = {"postgres": _postgres, "schema": _schema, "redis": _redis}
"""Requests fail without them."""

OPTIONAL: Mapping[str, Probe] = {
    "workers": _workers,
    "sessions": _sessions,
    "cells": _cells,
    "chat_model": _chat_model,
}
"""Requests are answered without them, but sessions wait or programs are refused."""


DEPEND_ON_POSTGRES = ("schema", "workers", "sessions")
"""Not reported while Postgres is away: the same outage would be listed four times."""


LIMITING = ("workers", "chat_model")
"""Optional dependencies without which no session goes on. Without cells' isolation questions still do."""


@dataclass(frozen=True)
class ReadinessReport:
    """Failed probes by name, with one sentence each, which holds no address and no secret."""

    unavailable: Mapping[str, str]
    degraded: Mapping[str, str]

    @property
    def is_limited(self) -> bool:
        return any(name in self.degraded for name in LIMITING)


async def check_readiness(resources: Resources) -> ReadinessReport:
    unavailable, degraded = await asyncio.gather(
        _run_probes(REQUIRED, resources), _run_probes(OPTIONAL, resources)
    )
    if "postgres" in unavailable:
        for failures in (unavailable, degraded):
            for name in DEPEND_ON_POSTGRES:
                failures.pop(name, None)
    return ReadinessReport(unavailable, degraded)


async def _run_probes(probes: Mapping[str, Probe], resources: Resources) -> dict[str, str]:
    problems = await asyncio.gather(*(_run_probe(probe, resources) for probe in probes.values()))
    return {name: problem for name, problem in zip(probes, problems, strict=True) if problem is not None}


async def _run_probe(probe: Probe, resources: Resources) -> str | None:
    try:
        async with asyncio.timeout(PROBE_TIMEOUT_S):
            await probe(resources)
    except _Deficient as error:
        return str(error)
    except TimeoutError:
        return f"It did not answer within {PROBE_TIMEOUT_S:g} s."
    except Exception as error:  # noqa: BLE001 - a probe reports every way of failing
        return f"It does not answer ({type(error).__name__})."
    return None
