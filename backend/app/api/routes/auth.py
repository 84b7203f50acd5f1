"""Accounts and sign-in."""

from fastapi import APIRouter, Request, Response

from app.api.access.browser_requests import browser_secret, set_cookie
from app.api.access.sign_in import NetworkDep, check_password
from app.api.dependencies.caller import PrincipalDep, SignedInDep
from app.api.dependencies.deletion import AccountDeletionsDep
from app.api.dependencies.resources import AuthDep, ResourcesDep, UowDep
from app.api.openapi.document import problems
from app.auth.principal import Credential
from app.auth.repository import UserRepository
from app.auth.schemas import RefreshRequest, Registration, SignIn, TokenPair, UserView
from app.auth.service import Accounts, ReusedToken, TokenChain
from app.deletion.schemas import AccountDeletion, DeletionView
from app.errors import Forbidden

router = APIRouter(prefix="/auth", tags=["auth"])


@router.post("/register", status_code=201, operation_id="register", responses=problems(403, 409, 429))
async def register(body: Registration, auth_services: AuthDep, uow: UowDep, network: NetworkDep) -> UserView:
    """Create an account. Answers 403 if only admins may."""
    if auth_services.config.registration == "closed":
        raise Forbidden("registration_closed", "Only an admin creates accounts here: labcrew user add.")
    await auth_services.throttle.take("register", network, auth_services.config.registrations)
    user = await Accounts(uow.db, auth_services.passwords).register(
        body.email, body.password.get_secret_value()
    )
    return UserView.model_validate(user)


@router.post("/token", operation_id="sign_in", responses=problems(401, 429))
async def sign_in(
    body: SignIn, auth_services: AuthDep, resources: ResourcesDep, network: NetworkDep
) -> TokenPair:
    """Sign in. Returns a short-lived access token and a refresh token for one use."""
    user = await check_password(body, auth_services, resources, network)
    async with resources.open_uow() as uow:
        return await TokenChain(uow.db, auth_services.signer).start(user.id)


@router.post("/refresh", operation_id="refresh", responses=problems(401))
async def refresh(body: RefreshRequest, auth_services: AuthDep, resources: ResourcesDep) -> TokenPair:
    """Exchange a refresh token for new tokens. A second use revokes every token of its chain."""
    async with resources.open_uow() as uow:
        pair = await TokenChain(uow.db, auth_services.signer).rotate(body.refresh_token.get_secret_value())
    # Outside of the transaction, which would else take the revocation back.
    if isinstance(pair, ReusedToken):
        if pair.user_id is not None:
            await auth_services.revocations.announce(pair.user_id)
        raise pair
    return pair


@router.post("/logout", status_code=204, operation_id="sign_out", responses=problems(401, 403))
async def sign_out(principal: SignedInDep, auth_services: AuthDep, resources: ResourcesDep) -> None:
    """Revoke the sent access token and every token of its chain; its open streams end."""
    async with resources.open_uow() as uow:
        await TokenChain(uow.db, auth_services.signer).end(principal.user_id, principal.origin)
    await auth_services.revocations.announce(principal.user_id)


@router.get("/me", operation_id="me", responses=problems(401))
async def me(
    principal: PrincipalDep, uow: UowDep, auth_services: AuthDep, request: Request, response: Response
) -> UserView:
    """Return the account of the caller. A browser gets its cookie again, which so lasts as its session."""
    secret = browser_secret(request.headers, request.app.state.settings.production)
    if secret and principal.credential is Credential.BROWSER:
        set_cookie(response, request, secret, auth_services.config.refresh_ttl_s)
    return UserView.model_validate(await UserRepository(uow.db).get(principal.user_id))


@router.post(
    "/me/deletion", status_code=202, operation_id="delete_account", responses=problems(401, 403, 409, 429)
)
async def delete_account(
    body: AccountDeletion,
    principal: SignedInDep,
    auth_services: AuthDep,
    accounts: AccountDeletionsDep,
    network: NetworkDep,
) -> DeletionView:
    """Delete your account with all its data, confirmed by your password. This cannot be undone.

    You are signed out everywhere at once. Running sessions are cancelled first.
    """
    throttle_key = f"{principal.user_id} {network}"
    await auth_services.throttle.take_with_back_off(
        "delete-account", throttle_key, auth_services.config.sign_in_tries
    )
    deletion = await accounts.request_by_owner(
        principal.user_id, auth_services.passwords, body.password.get_secret_value()
    )
    await auth_services.throttle.clear("delete-account", throttle_key)
    await auth_services.revocations.announce(principal.user_id)
    return deletion
