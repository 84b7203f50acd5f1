"""The services of conversations of one request."""

from typing import Annotated

from fastapi import Depends

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import ResourcesDep
from app.threads.queries import ThreadReader
from app.threads.service import ThreadService


async def _service(resources: ResourcesDep) -> ThreadService:
    return ThreadService(resources.database, resources.send, resources.settings.sessions)


async def _reader(resources: ResourcesDep, principal: PrincipalDep) -> ThreadReader:
    return ThreadReader(resources.database, principal.user_id)


ThreadServiceDep = Annotated[ThreadService, Depends(_service)]
ThreadReaderDep = Annotated[ThreadReader, Depends(_reader)]
"""Reads the caller's own conversations."""
