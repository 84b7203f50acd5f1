"""The session services of one request."""

from typing import Annotated

from fastapi import Depends

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import ResourcesDep
from app.resources import Resources
from app.sessions.holdout_looks import HoldoutLooks
from app.sessions.queries import SessionReader
from app.sessions.service import SessionService


def session_service(resources: Resources, graph: str = "pipeline") -> SessionService:
    return SessionService(
        resources.database, resources.tail, resources.send, resources.settings.sessions, graph
    )


async def _service(resources: ResourcesDep) -> SessionService:
    return session_service(resources)


async def _reader(resources: ResourcesDep, principal: PrincipalDep) -> SessionReader:
    return SessionReader(resources.database, principal.user_id)


async def _looks(resources: ResourcesDep) -> HoldoutLooks:
    return HoldoutLooks(resources.database)


LooksDep = Annotated[HoldoutLooks, Depends(_looks)]
ServiceDep = Annotated[SessionService, Depends(_service)]
ReaderDep = Annotated[SessionReader, Depends(_reader)]
"""Reads the caller's own sessions."""
