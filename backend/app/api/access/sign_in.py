"""The check of an address and a password, with the throttle of failed attempts."""

from typing import Annotated

from fastapi import Depends, Request

from app.api.access.rate_limit import client_address
from app.auth.schemas import SignIn
from app.auth.service import check_sign_in
from app.auth.services import AuthServices
from app.db.tables import UserRow
from app.errors import Unauthorized
from app.observability.metrics.api_requests import SIGN_INS
from app.resources import Resources


async def _network(request: Request) -> str:
    return client_address(request.scope)


NetworkDep = Annotated[str, Depends(_network)]


async def check_password(
    body: SignIn, auth_services: AuthServices, resources: Resources, network: str
) -> UserRow:
    """Raises Unauthorized for a wrong pair, and TooMany after too many of them."""
    tries = auth_services.config.sign_in_tries
    pair = f"{body.email} {network}"
    # Ten times as many for all accounts of a network, and for an account from all networks, as for the pair.
    await auth_services.throttle.take("sign-in-network", network, tries * 10)
    await auth_services.throttle.take("sign-in-account", body.email, tries * 10)
    await auth_services.throttle.take_with_back_off("sign-in", pair, tries)
    password = body.password.get_secret_value()
    try:
        user = await check_sign_in(resources.open_uow, auth_services.passwords, body.email, password)
    except Unauthorized:
        SIGN_INS.labels("refused").inc()
        raise
    SIGN_INS.labels("accepted").inc()
    await auth_services.throttle.clear("sign-in", pair)
    await auth_services.throttle.give_back("sign-in-network", network)
    await auth_services.throttle.give_back("sign-in-account", body.email)
    return user
