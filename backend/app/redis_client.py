"""Clients of Redis for an address of one server or of a service that Sentinels watch."""

from typing import Any
from urllib.parse import quote

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff
from redis.retry import Retry as BlockingRetry

from app.errors import Unavailable
from app.redis_address import SentinelService, parse_sentinel_service

SHORT_TIMEOUTS = {"socket_timeout": 5, "socket_connect_timeout": 2}
"""Seconds for an answer and for a connection: every caller can do without Redis for a while, none can hang."""


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
    # kombu's clients block, so they take the retries of the package that blocks.
    sentinel_options = {**service.sentinel_options, **SHORT_TIMEOUTS, "retry": BlockingRetry(NoBackoff(), 0)}
    return hosts, {"master_name": service.name, "sentinel_kwargs": sentinel_options}


class _SentinelClient(Redis):
    """Client that closes its connections to the Sentinels with its own."""

    sentinels: Sentinel

    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        await super().aclose(close_connection_pool)
        await self.sentinels.aclose()
