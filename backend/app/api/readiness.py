"""What must answer before this process is ready, and what to do when it does not."""

import asyncio
from collections.abc import Awaitable, Callable

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.resources import Resources

_PATIENCE_S = 2.0


class _Missing(Exception):
    """It answers, but lacks something."""


async def _schema(resources: Resources) -> None:
    async with resources.open_uow() as uow:
        try:
            await uow.db.execute(text("SELECT 1 FROM sessions WHERE false"))
        except DBAPIError as error:
            if error.connection_invalidated:
                raise
            raise _Missing("The database has no Labcrew schema. Run: labcrew migrate") from error


async def _redis(resources: Resources) -> None:
    await resources.redis.ping()


PROBES: dict[str, Callable[[Resources], Awaitable[None]]] = {"postgres": _schema, "redis": _redis}


async def what_is_missing(resources: Resources) -> dict[str, str]:
    """Name of each server that does not answer, and why in one sentence; no address, no secret."""
    answers = await asyncio.gather(*(_probe(probe, resources) for probe in PROBES.values()))
    return {name: why for name, why in zip(PROBES, answers, strict=True) if why is not None}


async def _probe(probe: Callable[[Resources], Awaitable[None]], resources: Resources) -> str | None:
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
