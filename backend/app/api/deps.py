"""Dependencies of routes: the caller, a transaction, a page of a list."""

from collections.abc import AsyncIterator
from typing import Annotated, Generic, TypeVar

from fastapi import Depends, Header, Query, Request
from fastapi.openapi.models import HTTPBearer as HTTPBearerModel
from fastapi.requests import HTTPConnection
from fastapi.security.base import SecurityBase
from pydantic import BaseModel, Field

from app.api.access.browser_requests import browser_secret, check_same_site
from app.api.access.operation_scopes import scope_needed
from app.api.access.rate_limit import read_credential
from app.auth.principal import Credential, Principal, Scope, UserRole
from app.auth.services import AuthServices
from app.db.keyset import MAX_COUNTED_ROWS, Cursor, ListPage, PageRequest
from app.db.unit_of_work import UnitOfWork
from app.errors import Forbidden, Unauthorized
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


async def principal_of(connection: HTTPConnection, auth_services: AuthServices) -> Principal:
    """Authenticate by the headers, else by the cookie.

    Raises Unauthorized, and Forbidden for a cookie in a request of another site's page.
    """
    credential = read_credential(connection.headers)
    if not credential:
        # Only without a header, which no page of another site could send.
        credential = browser_secret(connection.headers, connection.app.state.settings.production)
        if credential:
            check_same_site(connection)
    if not credential:
        raise Unauthorized(
            "not_signed_in", "Send `Authorization: Bearer <access token or API key>` or `X-API-Key`."
        )
    return await auth_services.authenticator.authenticate(credential)


class _Caller(SecurityBase):
    """One dependency instead of a chain of them: each costs time in every request."""

    model = HTTPBearerModel(description="An access token of /auth/token, or an API key of /auth/api_keys.")
    scheme_name = "bearer"

    async def __call__(self, connection: HTTPConnection) -> Principal:
        principal = await principal_of(connection, connection.app.state.auth_services)
        require(principal, scope_needed(connection.scope))
        return principal


def require(principal: Principal, needed: Scope | None) -> None:
    """Raises Forbidden."""
    if needed is not None and needed not in principal.scopes:
        raise Forbidden(
            "scope_missing",
            f"This API key lacks the scope `{needed}`. Make one that has it, or sign in.",
            scope=needed,
            scopes=sorted(principal.scopes),
        )


PrincipalDep = Annotated[Principal, Depends(_Caller())]


async def _signed_in(principal: PrincipalDep) -> Principal:
    """Require a user who signed in; API keys are refused, whatever their scopes."""
    if principal.credential is Credential.KEY:
        raise Forbidden("sign_in_required", "This needs an access token of /auth/token, not an API key.")
    return principal


SignedInDep = Annotated[Principal, Depends(_signed_in)]


async def _admin(principal: PrincipalDep) -> Principal:
    """Require the role; the scope of a key is checked before."""
    if principal.role is not UserRole.ADMIN:
        raise Forbidden("admin_required", "Only an admin may do this.")
    return principal


AdminDep = Annotated[Principal, Depends(_admin)]


IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="A repeated request with the same key creates nothing and returns the first result.",
        examples=["b1946ac9-titanic-1"],
    ),
]


async def _check_storage_quota(request: Request, principal: PrincipalDep, auth_services: AuthDep) -> None:
    """Check the storage quota by the declared length, before the body is read."""
    declared = request.headers.get("content-length", "")
    # Without a length only a quota that is used up already refuses.
    await auth_services.storage_quota.require(principal, int(declared) if declared.isdecimal() else 0)


CHECK_STORAGE = Depends(_check_storage_quota)
"""Dependency of routes that store data. Raises TooMany if the storage quota of the user is used up."""


class PageQuery(BaseModel):
    """Query parameters of a list: a page by offset."""

    limit: int = Field(default=50, ge=1, le=200)
    offset: int = Field(default=0, ge=0, le=1_000_000)


PageDep = Annotated[PageQuery, Query()]


class KeyedPageQuery(PageQuery):
    """Query parameters of a list that can be continued by a cursor."""

    after: str | None = Field(
        default=None,
        max_length=200,
        description="`next_cursor` of the previous page. Cheaper than an offset, and no item is repeated.",
    )

    @property
    def portion(self) -> PageRequest:
        """Raises InvalidInput."""
        return PageRequest(self.limit, self.offset, Cursor.parse(self.after) if self.after else None)


KeyedPageDep = Annotated[KeyedPageQuery, Query()]

Item = TypeVar("Item")


class Page(BaseModel, Generic[Item]):
    """A page of a list."""

    items: list[Item]
    total: int = Field(description=f"Number of items in the list; counting stops at {MAX_COUNTED_ROWS:,}.")
    limit: int
    offset: int
    next_cursor: str | None = Field(
        default=None,
        description="Send it as `after` to get the next page; null at the end, and for lists without cursors.",
    )


def numbered_page(page: PageQuery, items: list[Item], total: int) -> Page[Item]:
    return Page(items=items, total=total, limit=page.limit, offset=page.offset)


def keyed_page(page: KeyedPageQuery, part: ListPage[Item]) -> Page[Item]:
    return Page(
        items=list(part.items),
        total=part.total,
        limit=page.limit,
        offset=page.offset,
        next_cursor=str(part.next) if part.next else None,
    )
