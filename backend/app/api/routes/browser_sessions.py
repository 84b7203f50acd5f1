"""Sign-in of browsers by an httpOnly cookie."""

import ipaddress
from uuid import UUID

from fastapi import APIRouter, Request, Response

from app.api.access.browser_requests import check_same_site, clear_cookies, set_cookie
from app.api.access.sign_in import NetworkDep, check_password
from app.api.dependencies.caller import SignedInDep
from app.api.dependencies.resources import AuthDep, ResourcesDep
from app.api.openapi.document import problems
from app.auth.browser_sessions import start_browser_session
from app.auth.schemas import CodeSignIn, SignIn
from app.auth.service import TokenChain
from app.auth.sign_in_codes import refused_code

router = APIRouter(prefix="/auth/session", tags=["auth"])


@router.post(
    "",
    status_code=204,
    operation_id="start_browser_session",
    responses={
        204: {"description": "Signed in: the cookie is set.", "headers": {"Set-Cookie": {"schema": {}}}},
        **problems(401, 403, 429),
    },
)
async def start(
    body: SignIn | CodeSignIn,
    request: Request,
    auth_services: AuthDep,
    resources: ResourcesDep,
    network: NetworkDep,
) -> Response:
    """Sign a browser in. The answer sets an httpOnly cookie, which no script can read.

    `code` is the one-time code of an address that `labcrew up` prints; it counts on loopback only.
    """
    # At the sign-in too: another site could sign a browser in to an account of its own.
    check_same_site(request)
    if isinstance(body, SignIn):
        user_id = (await check_password(body, auth_services, resources, network)).id
    else:
        user_id = await _redeem(body, request, auth_services)
    async with resources.open_uow() as uow:
        secret = await start_browser_session(uow.db, auth_services.signer, user_id)
    response = Response(status_code=204)
    set_cookie(response, request, secret, auth_services.config.refresh_ttl_s)
    return response


@router.delete("", status_code=204, operation_id="end_browser_session", responses=problems(401, 403))
async def end(principal: SignedInDep, auth_services: AuthDep, resources: ResourcesDep) -> Response:
    """Sign out: the cookie stops working at once, in every tab, and its open streams end."""
    async with resources.open_uow() as uow:
        await TokenChain(uow.db, auth_services.signer).end(principal.user_id, principal.origin)
    await auth_services.revocations.announce(principal.user_id)
    response = Response(status_code=204)
    clear_cookies(response)
    return response


async def _redeem(body: CodeSignIn, request: Request, auth_services: AuthDep) -> UUID:
    """Raises Unauthorized."""
    if request.app.state.settings.production or not _is_loopback(request):
        raise refused_code()
    return await auth_services.sign_in_codes.redeem(body.code.get_secret_value())


def _is_loopback(request: Request) -> bool:
    try:
        return request.client is not None and ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
