"""Health endpoints: liveness, readiness and metrics."""

from typing import Annotated, Literal, Self

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from app.api.dependencies.resources import ResourcesDep
from app.api.openapi.document import problems
from app.api.status.queue_health import QueueHealth, read_queue_health
from app.api.status.readiness import check_readiness
from app.api.status.service_metrics import ServiceMetrics
from app.errors import Unauthorized
from app.observability.metrics.exposition import MEDIA_TYPE, FixedMetrics, exposition, make_registry
from app.observability.metrics.metrics_server import may_read
from app.sandbox.exchange.contract import Isolation
from app.settings import Settings

router = APIRouter(tags=["health"])
compatible_router = APIRouter(tags=["health"])
"""Routes at the root of a service with COMPATIBLE_PATHS."""


class Health(BaseModel):
    status: Literal["ok"] = "ok"


class UntrustedCode(BaseModel):
    """Isolation of programs and stored models, as `labcrew doctor` reports it."""

    status: Literal["allowed", "refused", "unknown"]
    tier: str | None = Field(None, examples=["lsm-only"])
    refusal: str | None = Field(None, description="Reason for refusing programs.")
    unavailable_tiers: dict[str, str] = Field(
        default_factory=dict, description="Reason for each stronger tier that does not work here."
    )

    @classmethod
    def of(cls, isolation: Isolation | None) -> Self:
        if isolation is None:
            return cls(status="unknown")
        return cls(
            status="refused" if isolation.refusal else "allowed",
            tier=isolation.tier,
            refusal=isolation.refusal,
            unavailable_tiers=dict(isolation.missing),
        )


class Readiness(BaseModel):
    status: Literal["ready", "limited", "not_ready"] = Field(
        description="`limited`: requests are answered, but nobody can work on them, or the chat model cannot"
        " be used (see `degraded`)."
    )
    unavailable: dict[str, str] = Field(
        description="Required dependencies that fail, by name, with the remedy.",
        examples=[{"redis": "It does not answer (ConnectionError)."}],
    )
    degraded: dict[str, str] = Field(
        description="Optional dependencies that fail, by name, with the remedy.",
        examples=[{"workers": "No worker on compute was seen for 30 s: sessions wait. Start: labcrew worker"}],
    )
    untrusted_code: UntrustedCode = Field(
        description="Isolation of programs and stored models; other requests do not need it."
    )


@router.get("/healthz", operation_id="healthz")
async def healthz() -> Health:
    """Answer while the process runs."""
    return Health()


@compatible_router.get("/health", operation_id="health")
async def health(resources: ResourcesDep) -> QueueHealth:
    """Answer while the process runs, with the state of Redis, workers, jobs and the chat model."""
    return await read_queue_health(resources)


@router.get("/readyz", operation_id="readyz", responses={503: {"model": Readiness}})
async def readyz(
    resources: ResourcesDep,
    response: Response,
    strict: Annotated[bool, Query(description="Answer 503 for `limited` too.")] = False,
) -> Readiness:
    """Check every dependency. Answers 503 if a required one fails; optional ones are listed only."""
    report = await check_readiness(resources)
    response.status_code = 503 if report.unavailable or (strict and report.is_limited) else 200
    limited: Literal["ready", "limited"] = "limited" if report.is_limited else "ready"
    return Readiness(
        status="not_ready" if report.unavailable else limited,
        unavailable=dict(report.unavailable),
        degraded=dict(report.degraded),
        untrusted_code=UntrustedCode.of(resources.cells.isolation_now()),
    )


@router.get("/metrics", operation_id="metrics", response_class=Response, responses=problems(401))
async def metrics(resources: ResourcesDep, request: Request) -> Response:
    """Metrics of this process and of the service, in the text format of Prometheus."""
    _check_token(resources.settings, request.headers.get("authorization"))
    service_metrics: ServiceMetrics = request.app.state.service_metrics
    service = make_registry(FixedMetrics(await service_metrics.metrics()))
    return Response(exposition((resources.gauges, service)), media_type=MEDIA_TYPE)


def _check_token(settings: Settings, authorization: str | None) -> None:
    """Raises Unauthorized."""
    token = settings.metrics_token
    if token is None and settings.production:
        raise Unauthorized("metrics_closed", "Set METRICS_TOKEN, and send it as `Authorization: Bearer`.")
    if not may_read(authorization, token.get_secret_value() if token else None):
        raise Unauthorized("metrics_closed", "Send METRICS_TOKEN as `Authorization: Bearer`.")
