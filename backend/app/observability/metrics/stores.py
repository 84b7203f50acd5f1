"""Metrics of stores: connections of a process, blobs and disks."""

import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import Counter
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

STATEMENTS_REPEATED = Counter(
    "labcrew_db_statements_repeated_total", "Statements that were sent again because Postgres was away."
)
BLOB_BYTES = Counter("labcrew_blob_bytes_total", "Bytes of blobs that were stored and read.", ("direction",))


@dataclass(frozen=True)
class PoolUsage:
    """Connections of one pool: its limit, those that are open, and those in use."""

    max_connections: int
    open: int
    used: int


@dataclass(frozen=True, eq=False)
class Stores(Collector):
    """Collector that reads each pool and each folder's disk at every scrape."""

    pools: Mapping[str, Callable[[], PoolUsage]]
    folders: Mapping[str, Path]

    def collect(self) -> Iterable[Metric]:
        return (*self._connections(), *self._disks())

    def _connections(self) -> Iterable[Metric]:
        limits = GaugeMetricFamily(
            "labcrew_db_pool_limit", "Connections that a pool may have.", labels=["pool"]
        )
        now = GaugeMetricFamily(
            "labcrew_db_pool_connections",
            "Open connections of a pool, in use or idle.",
            labels=["pool", "state"],
        )
        for name, read_usage in self.pools.items():
            pool = read_usage()
            limits.add_metric([name], pool.max_connections)
            now.add_metric([name, "used"], pool.used)
            now.add_metric([name, "idle"], pool.open - pool.used)
        return limits, now

    def _disks(self) -> Iterable[Metric]:
        free = GaugeMetricFamily(
            "labcrew_disk_free_bytes", "Free space on the disk of a folder.", labels=["folder"]
        )
        size = GaugeMetricFamily("labcrew_disk_size_bytes", "Size of the disk of a folder.", labels=["folder"])
        for name, folder in self.folders.items():
            # A folder that is made with its first file is not there yet.
            with suppress(OSError):
                disk = shutil.disk_usage(folder)
                free.add_metric([name], disk.free)
                size.add_metric([name], disk.total)
        return free, size
