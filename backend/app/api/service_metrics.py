"""Figures of the whole service, read by the API when it is asked for them: queues, sessions, servers, blobs."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from app.api import readiness
from app.db.pool import is_away
from app.jobs import QUEUES, REDIS_AWAY, read_queued_at
from app.resources import Resources
from app.retention.counts import count_pending
from app.sessions.counts import count_sessions
from app.sessions.workers import count_live_workers
from app.storage.postgres import PostgresBlobs

FRESH_S = 5.0
"""Who asks more often hears the same again."""
SIZES_FRESH_S = 60.0
"""A sum over every blob, and a look at every file of the database."""

_BLOBS = "select count(*) as n, coalesce(sum(size_bytes), 0)::float8 as size_bytes from blobs"
_DATABASE = "select pg_database_size(current_database())::float8 as size_bytes"


@dataclass(frozen=True)
class Fact:
    """One metric. `values` by what its `label` says; by nothing when it has none."""

    name: str
    says: str
    values: Mapping[str, float]
    label: str = ""

    def metric(self) -> Metric:
        labels = [self.label] if self.label else []
        family = GaugeMetricFamily(f"labcrew_{self.name}", self.says, labels=labels)
        for key, value in self.values.items():
            family.add_metric([key] if labels else [], value)
        return family


@dataclass
class Facts:
    """Of one API process. What cannot be read is left out, and `labcrew_part_ready` says what is away."""

    resources: Resources
    monotonic: Callable[[], float] = time.monotonic
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _read_at: float = -float("inf")
    _facts: Iterable[Fact] = ()
    _sized_at: float = -float("inf")
    _sizes: Iterable[Fact] = ()

    async def metrics(self) -> list[Metric]:
        async with self._turn:
            if self.monotonic() - self._read_at > FRESH_S:
                self._facts = await self._read()
                self._read_at = self.monotonic()
        return [fact.metric() for fact in self._facts]

    async def _read(self) -> list[Fact]:
        report = await readiness.check_readiness(self.resources)
        facts = [_readiness_metric(report)]
        if "redis" not in report.unavailable:
            facts += await _messages(self.resources)
        if not {"postgres", "schema"} & set(report.unavailable):
            facts += await self._rows()
        return facts

    async def _rows(self) -> list[Fact]:
        try:
            facts = await _work(self.resources)
            if self.monotonic() - self._sized_at > SIZES_FRESH_S:
                self._sizes = await _sizes(self.resources)
                self._sized_at = self.monotonic()
        except Exception as error:
            if not is_away(error):
                raise
            return []
        return [*facts, *self._sizes]


def _readiness_metric(report: readiness.ReadinessReport) -> Fact:
    failures = dict.fromkeys((*report.unavailable, *report.degraded), 0.0)
    unchecked = readiness.DEPEND_ON_POSTGRES if "postgres" in report.unavailable else ()
    ready = {name: 1.0 for name in (*readiness.REQUIRED, *readiness.OPTIONAL) if name not in unchecked}
    return Fact("part_ready", "1 if a dependency is ready, as /readyz reports it.", ready | failures, "part")


async def _messages(resources: Resources) -> list[Fact]:
    queues = [*QUEUES.values()]
    try:
        async with resources.redis.pipeline(transaction=False) as pipe:
            for queue in queues:
                pipe.llen(queue)
                pipe.lindex(queue, -1)
            answers = await pipe.execute()
    except REDIS_AWAY:
        return []
    now = time.time()
    since = [read_queued_at(oldest) if oldest else None for oldest in answers[1::2]]
    ages = [0.0 if at is None else max(0.0, now - at) for at in since]
    return [
        Fact("queue_messages", "Wake-ups in Redis.", _by(queues, answers[::2]), "queue"),
        Fact(
            "queue_age_seconds", "How long the oldest wake-up in Redis has waited.", _by(queues, ages), "queue"
        ),
    ]


async def _work(resources: Resources) -> list[Fact]:
    database = resources.database
    found, ends = await count_sessions(database), await count_pending(database)
    return [
        Fact("sessions", "Sessions that have not ended, by status.", found.by_status, "status"),
        Fact("queue_due", "What a worker could take now, by rows of Postgres.", found.due_by_queue, "queue"),
        Fact("workers", "Worker processes that were seen lately.", await count_live_workers(database), "queue"),
        _one(
            "line_sessions", "Sessions in line for one of MAX_CONCURRENT_SESSIONS places.", found.queue_length
        ),
        _one("line_age_seconds", "How long the first in line has waited.", found.queue_wait_s),
        _one("deletions_open", "Deletions that were asked for and are not done.", ends.deletions_open),
        _one("sessions_stranded", "Sessions whose graph's version no worker runs.", ends.sessions_stranded),
    ]


async def _sizes(resources: Resources) -> list[Fact]:
    """The table of blobs knows those that lie in Postgres only."""
    database = await resources.database.row(_DATABASE)
    sizes = [
        _one("database_size_bytes", "What the database takes of its disk.", _value(database, "size_bytes"))
    ]
    if isinstance(resources.blobs, PostgresBlobs):
        blobs = await resources.database.row(_BLOBS)
        sizes += [
            _one("blobs_stored", "Blobs in Postgres.", _value(blobs, "n")),
            _one("blobs_stored_bytes", "Bytes of blobs in Postgres.", _value(blobs, "size_bytes")),
        ]
    return sizes


def _one(name: str, says: str, value: float) -> Fact:
    return Fact(name, says, {"": value})


def _by(names: Iterable[str], values: Iterable[float]) -> Mapping[str, float]:
    return dict(zip(names, values, strict=True))


def _value(row: Mapping[str, float] | None, name: str) -> float:
    return float(row[name]) if row else 0.0
