"""Addresses of Redis: one server, or a service that Sentinels watch.

`redis://`, `rediss://` and `unix://` are one server, as redis-py reads them. A service is
`redis+sentinel://[user:password@]host[:port],host[:port].../service[/database][?sentinel_password=...]`; with
`rediss+sentinel://` its servers and its Sentinels speak TLS. The password is the servers'.
"""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

SENTINEL_SCHEMES = ("redis+sentinel", "rediss+sentinel")
SENTINEL_PORT = 26379
"""Port of a Sentinel whose address names none: the default of Redis."""


@dataclass(frozen=True)
class SentinelService:
    """A Redis service whose current master the Sentinels know by `name`."""

    hosts: tuple[tuple[str, int], ...]
    name: str
    database: int = 0
    tls: bool = False
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    sentinel_password: str | None = field(default=None, repr=False)

    @property
    def login(self) -> dict[str, str]:
        """Options of a connection to a server."""
        return _without_none(username=self.username, password=self.password)

    @property
    def sentinel_options(self) -> dict[str, Any]:
        """Options of a connection to a Sentinel."""
        return {**_without_none(password=self.sentinel_password), "ssl": self.tls}


def parse_sentinel_service(address: str) -> SentinelService | None:
    """Parse the address of a service; None for the address of one server. Raises ValueError."""
    scheme, _, location = address.partition("://")
    if scheme not in SENTINEL_SCHEMES:
        return None
    location, _, query = location.partition("?")
    authority, _, path = location.partition("/")  # not by urlsplit, which takes one host only
    # From the right: a password may hold an @.
    login, _, hosts = authority.rpartition("@")
    username, _, password = login.partition(":")
    name, _, database = path.strip("/").partition("/")
    options = parse_qs(query)
    if not name or not (database or "0").isdecimal() or set(options) - {"sentinel_password"}:
        raise ValueError("it must be redis+sentinel://host:port,host:port/service/database")
    return SentinelService(
        tuple(_parse_host(host) for host in hosts.split(",")),
        unquote(name),
        int(database or 0),
        scheme.startswith("rediss"),
        unquote(username) or None,
        unquote(password) or None,
        options.get("sentinel_password", [None])[0],
    )


def _parse_host(text: str) -> tuple[str, int]:
    host = urlsplit(f"//{text}")
    if not host.hostname:
        raise ValueError("every Sentinel needs a host")
    return host.hostname, host.port or SENTINEL_PORT


def _without_none(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}
