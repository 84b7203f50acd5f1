"""The check of the caller's storage before a body is read."""

from fastapi import Depends, Request

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import AuthDep


async def _check_storage_quota(request: Request, principal: PrincipalDep, auth_services: AuthDep) -> None:
    """Check the storage quota by the declared length, before the body is read."""
    declared = request.headers.get("content-length", "")
    # Without a length only a quota that is used up already refuses.
    await auth_services.storage_quota.require(principal, int(declared) if declared.isdecimal() else 0)


CHECK_STORAGE = Depends(_check_storage_quota)
"""Dependency of routes that store data. Raises TooMany if the storage quota of the user is used up."""
