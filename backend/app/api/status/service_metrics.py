"""Metrics of the whole service, read on request: queues, sessions, workers, database and blobs."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from app.api.status import readiness
from app.db.pool import is_away
from app.deletion.counts import count_pending
from app.jobs import QUEUES, REDIS_AWAY, read_queued_at
from app.resources import Resources
from app.sessions.session_counts import count_sessions
from app.sessions.workers import count_live_workers
from app.storage.postgres import PostgresBlobs

CACHE_S = 5.0
"""Seconds that metrics are cached: less than the scrape interval of Prometheus (15 s)."""
SIZE_CACHE_S = 60.0
"""Seconds that sizes are cached: they take a sum over all blobs and a scan of the files of the database."""

_BLOBS = "select count(*) as n, coalesce(sum(size_bytes), 0)::float8 as size_bytes from blobs"
_DATABASE = "select pg_database_size(current_database())::float8 as size_bytes"


@dataclass(frozen=True)
class ServiceMetric:
    """A gauge. `values` by the value of its `label`; by an empty text without a label."""

    name: str
    help_text: str
    values: Mapping[str, float]
    label: str = ""

    def metric(self) -> Metric:
        labels = [self.label] if self.label else []
        family = GaugeMetricFamily(f"labcrew_{self.name}", self.help_text, labels=labels)
        for key, value in self.values.items():
            family.add_metric([key] if labels else [], value)
        return family


@dataclass
class ServiceMetrics:
    """Cached metrics. What cannot be read is omitted; `labcrew_part_ready` shows the outage."""

    resources: Resources
    monotonic: Callable[[], float] = time.monotonic
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _read_at: float = -float("inf")
    _facts: Iterable[ServiceMetric] = ()
    _sized_at: float = -float("inf")
    _sizes: Iterable[ServiceMetric] = ()

    async def metrics(self) -> list[Metric]:
        return [fact.metric() for fact in await self.facts()]

    async def facts(self) -> Iterable[ServiceMetric]:
        # Scrapes at the same moment share one reading.
        async with self._lock:
            if self.monotonic() - self._read_at > CACHE_S:
                self._facts = await self._read()
                self._read_at = self.monotonic()
        return self._facts

    async def _read(self) -> list[ServiceMetric]:
        report = await readiness.check_readiness(self.resources)
        facts = [_readiness_metric(report)]
        if "redis" not in report.unavailable:
            facts += await _read_queues(self.resources)
        if not {"postgres", "schema"} & set(report.unavailable):
            facts += await self._rows()
        return facts

    async def _rows(self) -> list[ServiceMetric]:
        try:
            facts = await _read_work(self.resources)
            if self.monotonic() - self._sized_at > SIZE_CACHE_S:
                self._sizes = await _read_sizes(self.resources)
                self._sized_at = self.monotonic()
        except Exception as error:
            if not is_away(error):
                raise
            return []
        return [*facts, *self._sizes]


def _readiness_metric(report: readiness.ReadinessReport) -> ServiceMetric:
    failures = dict.fromkeys((*report.unavailable, *report.degraded), 0.0)
    # Nobody has looked at these: they are neither ready nor not.
    unchecked = readiness.DEPEND_ON_POSTGRES if "postgres" in report.unavailable else ()
    ready = {name: 1.0 for name in (*readiness.REQUIRED, *readiness.OPTIONAL) if name not in unchecked}
    return ServiceMetric(
        "part_ready", "1 if a dependency is ready, as /readyz reports it.", ready | failures, "part"
    )


async def _read_queues(resources: Resources) -> list[ServiceMetric]:
    queues = [*QUEUES.values()]
    try:
        async with resources.redis.pipeline(transaction=False) as pipe:
            for queue in queues:
                pipe.llen(queue)
                # Jobs are pushed at the left: the last one is the oldest.
                pipe.lindex(queue, -1)
            replies = await pipe.execute()
    except REDIS_AWAY:
        return []
    now = time.time()
    since = [read_queued_at(oldest) if oldest else None for oldest in replies[1::2]]
    ages = [0.0 if at is None else max(0.0, now - at) for at in since]
    return [
        ServiceMetric("queue_messages", "Messages that wait in Redis.", _by(queues, replies[::2]), "queue"),
        ServiceMetric("queue_age_seconds", "Age of the oldest message in Redis.", _by(queues, ages), "queue"),
    ]


async def _read_work(resources: Resources) -> list[ServiceMetric]:
    database = resources.database
    counts, deletions = await count_sessions(database), await count_pending(database)
    return [
        ServiceMetric("sessions", "Sessions that have not ended, by status.", counts.by_status, "status"),
        ServiceMetric(
            "queue_due",
            "Sessions and fits that a worker could take now, by Postgres.",
            counts.due_by_queue,
            "queue",
        ),
        ServiceMetric("workers", "Live worker processes.", await count_live_workers(database), "queue"),
        _gauge("admission_queue_sessions", "Sessions in the admission queue.", counts.queue_length),
        _gauge(
            "admission_queue_age_seconds",
            "Waiting time of the first session in the admission queue.",
            counts.queue_wait_s,
        ),
        _gauge("deletions_open", "Deletions that are not complete.", deletions.deletions_open),
        _gauge(
            "sessions_stranded", "Sessions of a graph version that no worker runs.", deletions.sessions_stranded
        ),
    ]


async def _read_sizes(resources: Resources) -> list[ServiceMetric]:
    """Read the size of the database and, if blobs are stored in Postgres, theirs."""
    database = await resources.database.row(_DATABASE)
    sizes = [_gauge("database_size_bytes", "Size of the database on disk.", _value(database, "size_bytes"))]
    if isinstance(resources.blobs, PostgresBlobs):
        blobs = await resources.database.row(_BLOBS)
        sizes += [
            _gauge("blobs_stored", "Blobs in Postgres.", _value(blobs, "n")),
            _gauge("blobs_stored_bytes", "Bytes of blobs in Postgres.", _value(blobs, "size_bytes")),
        ]
    return sizes


def _gauge(name: str, help_text: str, value: float) -> ServiceMetric:
    return ServiceMetric(name, help_text, {"": value})


def _by(names: Iterable[str], values: Iterable[float]) -> Mapping[str, float]:
    return dict(zip(names, values, strict=True))


def _value(row: Mapping[str, float] | None, name: str) -> float:
    return float(row[name]) if row else 0.0
