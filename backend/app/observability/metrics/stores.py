"""Connections of a process, and what it asked of its stores."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

STATEMENTS_REPEATED = Counter(
    "labcrew_db_statements_repeated_total", "Statements that were sent again because Postgres was away."
)
BLOB_BYTES = Counter("labcrew_blob_bytes_total", "Bytes of blobs that were stored and read.", ("direction",))


@dataclass(frozen=True)
class PoolStanding:
    """Connections of one pool: how many it may have, has, and lends now."""

    most: int
    open: int
    used: int


@dataclass(frozen=True)
class Pools(Collector):
    """Reads each pool when it is asked."""

    pools: Mapping[str, Callable[[], PoolStanding]]

    def collect(self) -> Iterable[Metric]:
        most = GaugeMetricFamily(
            "labcrew_db_pool_limit_connections", "Connections that a pool may have.", labels=["pool"]
        )
        now = GaugeMetricFamily(
            "labcrew_db_pool_connections", "Connections of a pool.", labels=["pool", "state"]
        )
        for name, look in self.pools.items():
            pool = look()
            most.add_metric([name], pool.most)
            now.add_metric([name, "used"], pool.used)
            now.add_metric([name, "idle"], pool.open - pool.used)
        return most, now


def pools_registry(pools: Mapping[str, Callable[[], PoolStanding]]) -> CollectorRegistry:
    """Of its own, so that a process may open its resources more than once."""
    registry = CollectorRegistry()
    registry.register(Pools(pools))
    return registry
