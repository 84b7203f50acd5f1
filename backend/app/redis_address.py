"""Redis by its address: one server, or a service that Sentinels watch.

`redis://`, `rediss://` and `unix://` are one server, as the library reads them. A service is
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
_SHORT_TIMEOUTS = {"socket_timeout": 5, "socket_connect_timeout": 2}


@dataclass(frozen=True)
class SentinelService:
    """What Sentinels are asked for: `name`'s present master."""

    hosts: tuple[tuple[str, int], ...]
    name: str
    database: int = 0
    tls: bool = False
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    sentinel_password: str | None = field(default=None, repr=False)

    @property
    def login(self) -> dict[str, str]:
        """Of the servers."""
        return _without_none(username=self.username, password=self.password)

    @property
    def sentinel_options(self) -> dict[str, Any]:
        """Of a connection to a Sentinel."""
        return {**_without_none(password=self.sentinel_password), "ssl": self.tls}


def parse_sentinel_service(address: str) -> SentinelService | None:
    """The service that an address names, None where it names a server; raises ValueError."""
    scheme, _, rest = address.partition("://")
    if scheme not in SENTINEL_SCHEMES:
        return None
    place, _, query = rest.partition("?")
    listed, _, path = place.partition("/")  # by hand: several hosts are no host to urlsplit
    login, _, hosts = listed.rpartition("@")
    username, _, password = login.partition(":")
    name, _, database = path.strip("/").partition("/")
    options = parse_qs(query)
    if not name or not (database or "0").isdecimal() or set(options) - {"sentinel_password"}:
        raise ValueError("it must be redis+sentinel://host:port,host:port/service/database")
    return SentinelService(
        tuple(_host(one) for one in hosts.split(",")),
        unquote(name),
        int(database or 0),
        scheme.startswith("rediss"),
        unquote(username) or None,
        unquote(password) or None,
        options.get("sentinel_password", [None])[0],
    )


def open_redis(address: str, **options: Any) -> "Redis":
    """A client of one server, or of whichever server is a service's master now; nothing is sent yet."""
    service = parse_sentinel_service(address)
    if service is None:
        return Redis.from_url(address, **options)
    times = {name: value for name, value in options.items() if name.startswith("socket_")}
    asking = {**times, **service.sentinel_options, "retry": Retry(NoBackoff(), 0)}  # the next may know
    watchers = Sentinel(service.hosts, sentinel_kwargs=asking)  # type: ignore[no-untyped-call]
    of_server: dict[str, Any] = {"db": service.database, "ssl": service.tls, **service.login, **options}
    client: _SentinelClient = watchers.master_for(service.name, redis_class=_SentinelClient, **of_server)
    client.sentinels = watchers
    return client


async def refuse_cluster(redis: "Redis") -> None:
    """Raises Unavailable where it is a node of a Redis Cluster, which would refuse most of what we ask."""
    if (await redis.info("cluster")).get("cluster_enabled"):
        raise Unavailable(
            "redis_cluster",
            "REDIS_URL names a node of a Redis Cluster, which cannot be used: name a single server or the "
            "Sentinels of one. What is kept there is small.",
        )


def kombu_address(service: SentinelService) -> tuple[str, dict[str, Any]]:
    """Address and transport options of a broker, as kombu wants them."""
    login = "".join((quote(service.username or "", safe=""), ":", quote(service.password or "", safe=""), "@"))
    login = login if service.login else ""
    hosts = ";".join(f"sentinel://{login}{host}:{port}/{service.database}" for host, port in service.hosts)
    asking = {**service.sentinel_options, **_SHORT_TIMEOUTS, "retry": BlockingRetry(NoBackoff(), 0)}
    return hosts, {"master_name": service.name, "sentinel_kwargs": asking}


class _SentinelClient(Redis):
    """Closes its connections to the Sentinels with its own."""

    sentinels: Sentinel

    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        await super().aclose(close_connection_pool)
        await self.sentinels.aclose()


def _host(text: str) -> tuple[str, int]:
    host = urlsplit(f"//{text}")
    if not host.hostname:
        raise ValueError("every Sentinel needs a host")
    return host.hostname, host.port or SENTINEL_PORT


def _without_none(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}
