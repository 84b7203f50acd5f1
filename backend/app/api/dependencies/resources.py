"""The resources of the process, and a transaction of the request."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends
from fastapi.requests import HTTPConnection

from app.auth.services import AuthServices
from app.db.unit_of_work import UnitOfWork
from app.resources import Resources


async def _resources(connection: HTTPConnection) -> Resources:
    resources: Resources = connection.app.state.resources
    return resources


async def _auth_services(connection: HTTPConnection) -> AuthServices:
    auth_services: AuthServices = connection.app.state.auth_services
    return auth_services


ResourcesDep = Annotated[Resources, Depends(_resources)]
AuthDep = Annotated[AuthServices, Depends(_auth_services)]


async def _unit_of_work(resources: ResourcesDep) -> AsyncIterator[UnitOfWork]:
    async with resources.open_uow() as uow:
        yield uow


UowDep = Annotated[UnitOfWork, Depends(_unit_of_work, scope="function")]
"""Committed when the route function returns, before the response is sent."""
