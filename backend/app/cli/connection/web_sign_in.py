"""`labcrew sign-in`: an address that signs this machine's own user in to the web page, once."""

import asyncio
import ipaddress
from urllib.parse import urlencode

import typer

from app.cli.connection.service_connection import OWN_ACCOUNT
from app.cli.connection.service_file import ServiceAddresses, running_service
from app.errors import Forbidden, Unavailable
from app.settings import Settings, load_settings


def sign_in() -> None:
    """Print an address that signs you in to the web page. It works once, for five minutes, on this machine."""
    settings = load_settings()
    addresses = running_service(settings.home)
    if addresses is None:
        raise Unavailable("service_down", "No service runs on this folder. Start it: labcrew up.")
    address = sign_in_address(settings, addresses)
    if address is None:
        raise Forbidden(
            "local_sign_in_closed",
            "Addresses that sign in work on loopback and outside production only. "
            "Use an account: labcrew user add.",
        )
    typer.echo(address)


def sign_in_address(settings: Settings, addresses: ServiceAddresses, path: str = "") -> str | None:
    """Return the address; None in production, and where others can reach the API.

    `path`: where the page goes on after the sign-in. The code is behind the `#`, which browsers send to nobody,
    so that it is in no log.
    """
    # Whoever sees the address signs in as this user; only people on this machine should be able to follow it.
    if settings.production or not _is_loopback(settings.api_host):
        return None
    query = f"?{urlencode({'to': path})}" if path else ""
    return f"{addresses.api}/sign-in{query}#{asyncio.run(_issue_code(addresses))}"


def session_page_lines(settings: Settings, session_id: str) -> list[str]:
    """Return lines that say where a session is in the page, and how to start the service if it does not run."""
    path = f"/sessions/{session_id}"
    addresses = running_service(settings.home)
    if addresses is None:
        return [
            "The session in the page, while `.venv/bin/labcrew up` runs:",
            f"  http://{settings.api_host}:{settings.api_port}{path}",
        ]
    return [
        "The session in the page:",
        f"  {sign_in_address(settings, addresses, path) or f'{addresses.api}{path}'}",
    ]


async def _issue_code(addresses: ServiceAddresses) -> str:
    from app.auth.sign_in_codes import SignInCodes  # noqa: PLC0415 - Redis, which `labcrew --help` need not wait for
    from app.cli.connection.account_admin import AccountAdmin  # noqa: PLC0415 - SQLAlchemy, see above
    from app.redis_client import SHORT_TIMEOUTS, open_redis  # noqa: PLC0415 - see above

    user_id = await asyncio.to_thread(AccountAdmin(addresses.database_url).own_account, OWN_ACCOUNT)
    redis = open_redis(addresses.redis_url, **SHORT_TIMEOUTS)
    try:
        return await SignInCodes(redis).issue(user_id)
    finally:
        await redis.aclose()


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
