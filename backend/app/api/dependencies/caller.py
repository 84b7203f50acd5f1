"""The caller: who they are, and what they must be."""

from typing import Annotated

from fastapi import Depends
from fastapi.openapi.models import HTTPBearer as HTTPBearerModel
from fastapi.requests import HTTPConnection
from fastapi.security.base import SecurityBase

from app.api.access.browser_requests import browser_secret, check_same_site
from app.api.access.operation_scopes import scope_needed
from app.api.access.rate_limit import read_credential
from app.auth.principal import Credential, Principal, Scope, UserRole
from app.auth.services import AuthServices
from app.errors import Forbidden, Unauthorized


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
