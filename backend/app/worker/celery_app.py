"""The Celery application: queues, broker, and settings for a broker that may go away."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from celery import Celery
from celery.worker.control import Panel
from kombu.transport.redis import Channel

from app.jobs import QUEUES
from app.redis_address import parse_sentinel_service
from app.redis_client import kombu_address

INSPECTIONS = frozenset(
    {"active", "active_queues", "clock", "conf", "hello", "ping", "query_task", "registered", "report"}
    | {"reserved", "revoked", "scheduled", "stats"}
)
"""Remote commands that workers answer: `celery inspect` reads, and whoever reaches Redis can stop nothing."""
for _command in set(Panel.data) - INSPECTIONS:
    Panel.data.pop(_command)

# Without Redis, kombu would write its open jobs to a file that nothing reads. The sweeper repeats them.
Channel.do_restore = False


@dataclass(frozen=True)
class Broker:
    """Address of Redis for kombu. `options`: of its transport; `tls`: checks of the server's certificate."""

    address: str
    options: Mapping[str, Any] = field(default_factory=dict)
    tls: Mapping[str, Any] | None = None


def broker(redis_url: str) -> Broker:
    """Translate an address of Redis. Kombu has its own schemes for sockets and Sentinels, and a TLS setting."""
    parts = urlsplit(redis_url)
    if parts.scheme == "unix":
        database = parse_qs(parts.query).get("db", ["0"])[0]
        credentials = parts.netloc and f"{parts.netloc.removesuffix('@')}@"
        return Broker(f"redis+socket://{credentials}{parts.path}?virtual_host={database}")
    verified = {"ssl_cert_reqs": ssl.CERT_REQUIRED} if parts.scheme.startswith("rediss") else None
    service = parse_sentinel_service(redis_url)
    if service is None:
        return Broker(redis_url, tls=verified)
    address, options = kombu_address(service)
    return Broker(address, options, verified)


def make_celery(redis_url: str) -> Celery:
    """Make the application. It has no results and no events, since a message is only a wake-up."""
    redis = broker(redis_url)
    app = Celery("labcrew", broker=redis.address, set_as_current=False)
    app.conf.update(
        broker_use_ssl=redis.tls,
        task_default_queue="steps",
        task_routes={name: {"queue": queue} for name, queue in QUEUES.items()},
        task_ignore_result=True,
        task_store_errors_even_if_ignored=False,
        task_acks_late=False,
        # What a worker holds and has not begun, no other can run: as little as Celery lets it take.
        worker_prefetch_multiplier=1,
        # Else a worker takes less after each loss of the broker, until its running jobs have ended.
        worker_enable_prefetch_count_reduction=False,
        worker_send_task_events=False,
        worker_enable_remote_control=True,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        # A drive needs no broker: its lease is a row in Postgres.
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        # For ever: a worker sweeps without Redis, and comes back by itself.
        broker_connection_max_retries=None,
        broker_transport_options={
            # A copy in Redis would be half of what a message costs; the sweeper repeats what a worker lost.
            # And an acknowledgement that needs Redis and fails would keep its prefetch credit for ever.
            "ack_emulation": False,
            "socket_timeout": 5,
            "socket_connect_timeout": 2,
            "health_check_interval": 10,
            **redis.options,
        },
        task_publish_retry_policy={"max_retries": 1, "interval_start": 0.05},
    )
    return app
