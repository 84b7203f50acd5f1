"""Is it up, is it ready, and how busy is it?"""

from typing import Literal, Self

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from app.api.deps import ResourcesDep
from app.api.readiness import what_is_missing
from app.observability.metrics.exposition import MEDIA_TYPE, exposition
from app.sandbox.contract import Isolation

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
        examples=[{"redis": "ConnectionError: live events and sign-in throttling are off."}],
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
    """Everything that a request may need answers. Names what does not."""
    missing = await what_is_missing(resources)
    response.status_code = 503 if missing else 200
    return Readiness(
        status="not_ready" if missing else "ready",
        missing=missing,
        untrusted_code=UntrustedCode.of(resources.cells.glance()),
    )


@router.get("/metrics", operation_id="metrics", response_class=Response)
async def metrics() -> Response:
    """This process's figures in Prometheus's text format."""
    return Response(exposition(), media_type=MEDIA_TYPE)
