"""Addresses of Redis: one server, or a service that Sentinels watch.

`redis://`, `rediss://` and `unix://` are one server, as redis-py reads them. A service is
`redis+sentinel://[user:password@]host[:port],host[:port].../service[/database][?sentinel_password=...]`; with
`rediss+sentinel://` its servers and its Sentinels speak TLS. The password is the servers'.
"""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff
from redis.retry import Retry as BlockingRetry

from app.errors import Unavailable

SENTINEL_SCHEMES = ("redis+sentinel", "rediss+sentinel")
SENTINEL_PORT = 26379
"""Port of a Sentinel whose address names none: the default of Redis."""
SHORT_TIMEOUTS = {"socket_timeout": 5, "socket_connect_timeout": 2}
"""Seconds for an answer and for a connection: every caller can do without Redis for a while, none can hang."""


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


def open_redis(address: str, **options: Any) -> "Redis":
    """Make a client of one server, or of the current master of a service; nothing is sent yet."""
    service = parse_sentinel_service(address)
    if service is None:
        return Redis.from_url(address, **options)
    timeouts = {name: value for name, value in options.items() if name.startswith("socket_")}
    # Without retries: where one Sentinel does not answer, the next one is asked.
    sentinel_options = {**timeouts, **service.sentinel_options, "retry": Retry(NoBackoff(), 0)}
    sentinels = Sentinel(service.hosts, sentinel_kwargs=sentinel_options)  # type: ignore[no-untyped-call]
    server_options: dict[str, Any] = {"db": service.database, "ssl": service.tls, **service.login, **options}
    client: _SentinelClient = sentinels.master_for(service.name, redis_class=_SentinelClient, **server_options)
    client.sentinels = sentinels
    return client


async def refuse_cluster(redis: "Redis") -> None:
    """Raise Unavailable for a node of a Redis Cluster, which would refuse commands on several keys."""
    if (await redis.info("cluster")).get("cluster_enabled"):
        raise Unavailable(
            "redis_cluster",
            "REDIS_URL names a node of a Redis Cluster, which cannot be used: name a single server or the "
            "Sentinels of one. The service keeps little data in Redis.",
        )


def kombu_address(service: SentinelService) -> tuple[str, dict[str, Any]]:
    """Return the address and the transport options of a broker in kombu's form."""
    login = "".join((quote(service.username or "", safe=""), ":", quote(service.password or "", safe=""), "@"))
    login = login if service.login else ""
    hosts = ";".join(f"sentinel://{login}{host}:{port}/{service.database}" for host, port in service.hosts)
    sentinel_options = {**service.sentinel_options, **SHORT_TIMEOUTS, "retry": BlockingRetry(NoBackoff(), 0)}
    return hosts, {"master_name": service.name, "sentinel_kwargs": sentinel_options}


class _SentinelClient(Redis):
    """Client that closes its connections to the Sentinels with its own."""

    sentinels: Sentinel

    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        await super().aclose(close_connection_pool)
        await self.sentinels.aclose()


def _parse_host(text: str) -> tuple[str, int]:
    host = urlsplit(f"//{text}")
    if not host.hostname:
        raise ValueError("every Sentinel needs a host")
    return host.hostname, host.port or SENTINEL_PORT


def _without_none(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}
