"""Resources of a process: connections, stores and cells. Opened and closed here only."""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal
from uuid import UUID

from prometheus_client import CollectorRegistry
from redis.asyncio import Redis
from sqlalchemy import QueuePool
from sqlalchemy.ext.asyncio import AsyncEngine

from app.charts.renderer import ChartRenderer
from app.db.engine import create_engine
from app.db.pool import Database
from app.db.unit_of_work import OpenUnitOfWork, unit_of_work
from app.errors import Unavailable
from app.jobs import JobSender, SendJob
from app.llm.model_probe import ModelHealth
from app.observability.metrics.exposition import make_registry
from app.observability.metrics.sessions import JOBS_DROPPED
from app.observability.metrics.stores import PoolUsage, Stores
from app.observability.tracing import tracing
from app.redis_client import SHORT_TIMEOUTS, open_redis
from app.sandbox.computation_runner import ComputationRunner
from app.sandbox.provider.cell_provider import ProcessProvider
from app.sessions.events.publisher import EventPublisher
from app.sessions.events.stream import EventStreams
from app.settings import Settings
from app.storage.blobs import BlobStore
from app.storage.folder import FolderBlobs
from app.storage.postgres import PostgresBlobs
from app.workflows.document_check import DocumentCheck
from app.workflows.requests.allowed_hosts import RequestHosts
from app.workflows.secrets.store import SecretStore

ProcessRole = Literal["api", "worker"]

# Seconds for which a statement is repeated while Postgres is away, and a request while the bucket is. A caller
# of the API should not wait long.
_MAX_RETRY_S: dict[ProcessRole, float] = {"api": 5.0, "worker": 30.0}


@dataclass(frozen=True)
class Resources:
    """`engine` for the ORM, `database` for hot statements; both to the same Postgres.

    `job_queue`: AGENT_QUEUE_URL; workers alone use it.
    """

    settings: Settings
    engine: AsyncEngine
    database: Database
    redis: Redis
    blobs: BlobStore
    cells: ProcessProvider
    computer: ComputationRunner
    charts: ChartRenderer
    secrets: SecretStore
    hosts: RequestHosts
    job_queue: Redis | None
    send: SendJob
    open_uow: OpenUnitOfWork
    tail: EventPublisher
    watch: EventStreams
    gauges: CollectorRegistry
    chat_health: ModelHealth

    def check_documents(self, owner: UUID) -> DocumentCheck:
        """Return the check of the workflows of one owner."""
        return DocumentCheck(self.open_uow, owner, self.secrets, self.hosts, self.settings.mail)


@asynccontextmanager
async def open_resources(settings: Settings, role: ProcessRole) -> AsyncIterator[Resources]:
    """Open the resources of a process. Postgres must answer, Redis need not.

    Raises Unavailable when an address is missing.
    """
    if settings.database_url is None or settings.redis_address is None:
        raise Unavailable("address_missing", "DATABASE_URL and REDIS_URL must be set; `labcrew up` sets them.")
    # LangChain sends traces to a server of its maker when it finds its variables; this service sends none.
    os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = "false"
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Closed in reverse: what sends through a connection goes before the connection.
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(tracing(settings.otel_exporter_otlp_endpoint))
        engine = create_engine(settings.database_url)
        stack.push_async_callback(engine.dispose)
        database = await Database.open(settings.database_url, patience_s=_MAX_RETRY_S[role])
        stack.push_async_callback(database.close)
        redis = open_redis(settings.redis_address, **SHORT_TIMEOUTS)
        stack.push_async_callback(redis.aclose)
        tail = EventPublisher(redis)
        tail.start()
        stack.push_async_callback(tail.close)
        send = JobSender(redis, JOBS_DROPPED.inc)
        stack.push_async_callback(send.close)
        job_queue = None
        if settings.agent_queue_url is not None:
            job_queue = open_redis(settings.agent_queue_url, **SHORT_TIMEOUTS)
            stack.push_async_callback(job_queue.aclose)
        watch = EventStreams(settings.redis_address, database)
        stack.push_async_callback(watch.close)
        blobs = open_blobs(settings, database, _MAX_RETRY_S[role])
        cells = ProcessProvider(settings.cells)
        stack.push_async_callback(cells.close)
        charts = ChartRenderer(settings.charts_socket)
        stack.push_async_callback(charts.close)
        yield Resources(
            settings=settings,
            engine=engine,
            database=database,
            redis=redis,
            blobs=blobs,
            cells=cells,
            computer=ComputationRunner(
                cells,
                blobs,
                cells.scratch,
                settings.limits,
                settings.python_exports,
                settings.interactive_limits,
            ),
            charts=charts,
            secrets=SecretStore(
                database, partial(settings.load_secret_keys, settings.home, settings.production)
            ),
            hosts=RequestHosts(database, settings.http_allowed_hosts),
            job_queue=job_queue,
            send=send,
            open_uow=unit_of_work(engine, send),
            tail=tail,
            watch=watch,
            gauges=make_registry(_stores(settings, engine, database)),
            chat_health=ModelHealth(settings.chat),
        )


def _stores(settings: Settings, engine: AsyncEngine, database: Database) -> Stores:
    def rows() -> PoolUsage:
        pool = engine.pool
        if not isinstance(pool, QueuePool):
            return PoolUsage(0, 0, 0)
        return PoolUsage(2 * pool.size(), pool.checkedin() + pool.checkedout(), pool.checkedout())

    def statements() -> PoolUsage:
        pool = database.pool
        return PoolUsage(pool.get_max_size(), pool.get_size(), pool.get_size() - pool.get_idle_size())

    folders = {"home": settings.home, "artifacts": settings.artifact_storage_path}
    return Stores(
        {"rows": rows, "statements": statements}, {name: path for name, path in folders.items() if path}
    )


def open_blobs(settings: Settings, database: Database, patience_s: float) -> BlobStore:
    copies = settings.home / "blobs"
    if settings.artifact_storage_path is not None:
        return FolderBlobs(settings.artifact_storage_path, settings.blobs)
    if settings.bucket is not None:
        from app.storage.s3 import S3Blobs  # noqa: PLC0415 - 15 MB that a service without S3 never loads

        return S3Blobs(replace(settings.bucket, max_retry_s=patience_s), copies, settings.blobs)
    return PostgresBlobs(database.pool, copies, settings.blobs)
