"""Public configuration of the service: the limits that forms check before they send anything."""

from importlib.metadata import version
from typing import Literal, Self

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from app.api.dependencies.resources import ResourcesDep
from app.llm.config import OFFLINE
from app.modeling.problem.metrics import METRICS, Metric
from app.sessions.schemas import MAX_DATASETS, MAX_GOAL_CHARACTERS
from app.settings import Settings
from app.settings.setting_types import MIB

router = APIRouter(tags=["health"])


class MetricView(BaseModel):
    """A metric that candidates can be compared by."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(examples=["roc_auc"])
    label: str = Field(examples=["ROC AUC"])
    problem: str = Field(examples=["classification"])
    greater_is_better: bool
    binary_only: bool = Field(description="Defined for two classes only.")

    @classmethod
    def of(cls, metric: Metric) -> Self:
        return cls(
            name=metric.name,
            label=metric.label,
            problem=metric.kind,
            greater_is_better=metric.greater_is_better,
            binary_only=metric.binary_only,
        )


class RequestLimits(BaseModel):
    """Sizes above which the service refuses a request."""

    model_config = ConfigDict(frozen=True)

    upload_bytes: int
    prices_bytes: int = Field(description="A file of bars of prices.")
    goal_characters: int
    datasets: int = Field(description="Datasets of one session.")


class ServiceConfig(BaseModel):
    """Whatever here is the same for everybody, and names no address, model or key."""

    model_config = ConfigDict(frozen=True)

    version: str
    registration: Literal["open", "closed"] = Field(description="`closed`: an admin creates accounts.")
    chat_model: Literal["offline", "provider"] = Field(description="`offline`: rules, without a chat model.")
    untrusted_code: Literal["allowed", "refused", "unknown"] = Field(description="Programs of users.")
    limits: RequestLimits
    metrics: list[MetricView]


@router.get("/config", operation_id="get_config")
async def get_config(resources: ResourcesDep) -> ServiceConfig:
    """Return version, limits and metrics. Needs no credential: the page reads it before anybody signs in."""
    settings, isolation = resources.settings, resources.cells.isolation_now()
    return ServiceConfig(
        version=version("labcrew"),
        registration=settings.registration,
        chat_model="offline" if settings.chat.model == OFFLINE else "provider",
        untrusted_code="unknown" if isolation is None else "refused" if isolation.refusal else "allowed",
        limits=_limits(settings),
        metrics=[MetricView.of(metric) for metric in METRICS.values()],
    )


def _limits(settings: Settings) -> RequestLimits:
    return RequestLimits(
        upload_bytes=settings.upload_max_size_mb * MIB,
        prices_bytes=settings.prices_max_size_mb * MIB,
        goal_characters=MAX_GOAL_CHARACTERS,
        datasets=MAX_DATASETS,
    )
