"""Requests of browsers: the cookie of a session, and the rules that refuse pages of other sites.

A cookie is sent by the browser, not by the page, so it counts only if no other site can have made the request.
"""

from urllib.parse import urlsplit

from fastapi import Response
from fastapi.requests import HTTPConnection
from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from app.errors import Forbidden

# `__Host-`: browsers keep it only if this very host has set it over TLS, so no subdomain can plant one.
COOKIE = "__Host-labcrew"
PLAIN_COOKIE = "labcrew"
"""For an address without TLS in a local network, where browsers refuse the other; never in production."""
PAGE_HEADER = "x-labcrew"
"""Sent by the page with every change. Another site cannot send it without a permission of CORS."""

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_READING = frozenset({"GET", "HEAD"})


def browser_secret(headers: Headers, is_production: bool) -> str:
    """Return the secret of the cookie; empty if there is none."""
    cookies = cookie_parser(headers.get("cookie", ""))
    return cookies.get(COOKIE) or ("" if is_production else cookies.get(PLAIN_COOKIE, ""))


def check_same_site(connection: HTTPConnection) -> None:
    """Check that a request with a cookie comes from a page of this service. Raises Forbidden."""
    headers, is_socket = connection.headers, connection.scope["type"] == "websocket"
    is_reading = not is_socket and connection.scope["method"] in _READING
    # Browsers set both, and no page can forge them.
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    # "none": the user typed the address or opened a bookmark.
    is_own_site = site is None or site == "same-origin" or (is_reading and site == "none")
    # Browsers send an origin with every socket, so one without it is not a page's.
    is_own_origin = not is_socket if origin is None else _is_origin_of(origin, headers.get("host"))
    has_header = is_reading or is_socket or headers.get(PAGE_HEADER) == "1"
    if not (is_own_site and is_own_origin and has_header):
        raise Forbidden(
            "cross_site_request",
            "A browser's cookie counts only for requests of this service's own page, with `X-Labcrew: 1`. "
            "Programs use an access token or an API key.",
        )


def _is_origin_of(origin: str, host: str | None) -> bool:
    try:
        return urlsplit(origin).netloc == host
    except ValueError:
        return False  # no address, such as "http://["


def set_cookie(response: Response, connection: HTTPConnection, secret: str, max_age_s: float) -> None:
    is_secure = _keeps_secure_cookies(connection)
    response.set_cookie(
        COOKIE if is_secure else PLAIN_COOKIE,
        secret,
        max_age=int(max_age_s),
        path="/",
        secure=is_secure,
        httponly=True,
        # Not even a link on another site carries it here.
        samesite="strict",
    )


def clear_cookies(response: Response) -> None:
    # Both: the address may have got TLS since the sign-in.
    for name, is_secure in ((COOKIE, True), (PLAIN_COOKIE, False)):
        response.delete_cookie(name, path="/", secure=is_secure, httponly=True, samesite="strict")


def _keeps_secure_cookies(connection: HTTPConnection) -> bool:
    """Check if browsers keep a `Secure` cookie of this address: over TLS, and on loopback."""
    is_production: bool = connection.app.state.settings.production
    return is_production or connection.url.scheme == "https" or connection.url.hostname in _LOOPBACK
