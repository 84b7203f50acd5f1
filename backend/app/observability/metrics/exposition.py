"""A process's figures as text, with every metric that any process has: a name is known before it counts."""

from collections.abc import Iterable

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    disable_created_metrics,
    generate_latest,
)

from app.observability.metrics import cells, crew, edge, sessions, stores

KINDS = (edge, sessions, crew, cells, stores)
MEDIA_TYPE = CONTENT_TYPE_LATEST

disable_created_metrics()  # type: ignore[no-untyped-call]  # it has no annotation


def exposition(more: Iterable[CollectorRegistry] = ()) -> bytes:
    """In Prometheus's text format; `more`: what belongs to a part of this process only."""
    return b"".join(generate_latest(registry) for registry in (REGISTRY, *more))
