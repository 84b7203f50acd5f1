"""The author of a version that a request makes."""

from typing import Annotated

from fastapi import Depends

from app.api.dependencies.caller import PrincipalDep
from app.auth.principal import Credential
from app.workflows.authors import Author


async def _author(principal: PrincipalDep) -> Author:
    if principal.credential is Credential.KEY:
        return Author("api_key", principal.origin)
    return Author("person")


AuthorDep = Annotated[Author, Depends(_author)]
