"""Metrics of a process as text. Every metric exists from the start, so that alerts need no first event."""

from collections.abc import Iterable
from dataclasses import dataclass

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from app.observability.metrics import (
    agent_jobs,
    agents,
    api_requests,
    cells,
    deletion,
    sessions,
    stores,
    workflows,
)

METRIC_MODULES = (api_requests, sessions, agent_jobs, workflows, agents, cells, stores, deletion)
MEDIA_TYPE = CONTENT_TYPE_LATEST

# A series with the time of creation beside each counter would double their number.
disable_created_metrics()  # type: ignore[no-untyped-call]  # it has no annotation


@dataclass(frozen=True, eq=False)
class FixedMetrics(Collector):
    """Collector of metrics that were read already."""

    metrics: Iterable[Metric]

    def collect(self) -> Iterable[Metric]:
        return self.metrics


def make_registry(collector: Collector) -> CollectorRegistry:
    """Make a registry for one part of a process, which may be opened more than once in it."""
    registry = CollectorRegistry()
    registry.register(collector)
    return registry


def exposition(registries: Iterable[CollectorRegistry] = ()) -> bytes:
    """Write the metrics in Prometheus's text format; `registries`: those of parts of this process."""
    return b"".join(generate_latest(registry) for registry in (REGISTRY, *registries))
