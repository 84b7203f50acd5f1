"""Is it up, is it ready, and how busy is it?"""

from typing import Literal, Self

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from app.api.deps import ResourcesDep
from app.api.openapi import problems
from app.api.readiness import look
from app.api.service_metrics import Facts
from app.errors import Unauthorized
from app.observability.metrics.exposition import MEDIA_TYPE, FixedMetrics, exposition, make_registry
from app.observability.metrics.listener import may_read
from app.sandbox.contract import Isolation
from app.settings import Settings

router = APIRouter(tags=["health"])


class Health(BaseModel):
    status: Literal["ok"] = "ok"


class UntrustedCode(BaseModel):
    """What `labcrew doctor` says of the cells."""

    status: Literal["allowed", "refused", "not_known_yet"]
    tier: str | None = Field(None, examples=["lsm-only"])
    refusal: str | None = Field(None, description="Why programs are refused.")
    missing: dict[str, str] = Field(
        default_factory=dict, description="Why each stronger tier does not work here."
    )

    @classmethod
    def of(cls, isolation: Isolation | None) -> Self:
        if isolation is None:
            return cls(status="not_known_yet")
        return cls(
            status="refused" if isolation.refusal else "allowed",
            tier=isolation.tier,
            refusal=isolation.refusal,
            missing=dict(isolation.missing),
        )


class Readiness(BaseModel):
    status: Literal["ready", "not_ready"]
    missing: dict[str, str] = Field(
        description="What does not answer, by name, and what to do about it.",
        examples=[{"redis": "It does not answer (ConnectionError)."}],
    )
    limited: dict[str, str] = Field(
        description="What this process is served without, by name, and what to do about it.",
        examples=[{"workers": "No worker on compute was seen for 30 s: sessions wait. Start: labcrew worker"}],
    )
    untrusted_code: UntrustedCode = Field(
        description="Whether programs and stored models may run here; the rest is served without."
    )


@router.get("/healthz", operation_id="healthz")
async def healthz() -> Health:
    """This process answers."""
    return Health()


@router.get("/readyz", operation_id="readyz", responses={503: {"model": Readiness}})
async def readyz(resources: ResourcesDep, response: Response) -> Readiness:
    """Everything that a request may need answers. Names what does not, and what would have to wait."""
    found = await look(resources)
    response.status_code = 503 if found.missing else 200
    return Readiness(
        status="not_ready" if found.missing else "ready",
        missing=dict(found.missing),
        limited=dict(found.limited),
        untrusted_code=UntrustedCode.of(resources.cells.isolation_now()),
    )


@router.get("/metrics", operation_id="metrics", response_class=Response, responses=problems(401))
async def metrics(resources: ResourcesDep, request: Request) -> Response:
    """This process's figures, and those of the whole service, in Prometheus's text format."""
    _must_be_shown(resources.settings, request.headers.get("authorization"))
    facts: Facts = request.app.state.facts
    service = make_registry(FixedMetrics(await facts.metrics()))
    return Response(exposition((resources.gauges, service)), media_type=MEDIA_TYPE)


def _must_be_shown(settings: Settings, authorization: str | None) -> None:
    """Raises Unauthorized."""
    token = settings.metrics_token
    if token is None and settings.production:
        raise Unauthorized("metrics_closed", "Set METRICS_TOKEN, and send it as `Authorization: Bearer`.")
    if not may_read(authorization, token.get_secret_value() if token else None):
        raise Unauthorized("metrics_closed", "Send METRICS_TOKEN as `Authorization: Bearer`.")
