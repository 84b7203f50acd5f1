"""Settings of folders, addresses, logs, metrics and retention."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings

from app.deletion.retention_periods import RetentionPeriods
from app.settings.setting_types import HttpUrl, RetentionSetting


class ServiceSettings(BaseSettings):
    labcrew_home: Path = Field(
        Path(".labcrew"), description="Data folder of the service and its embedded servers."
    )
    labcrew_env: Literal["development", "production"] = Field(
        "development", description="`production` refuses to start without SECRET_KEY."
    )
    api_host: str = Field("127.0.0.1", description="Address that the API listens on.")
    api_port: int = Field(8000, ge=0, le=65535, description="Port that the API listens on; 0 takes a free one.")
    workers_per_queue: int = Field(
        1, ge=1, le=64, description="Worker processes that `labcrew up` runs for each queue."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="Lowest level that is logged."
    )
    log_format: Literal["json", "console"] = Field(
        "json", description="One JSON object a line, or lines to read."
    )
    otel_exporter_otlp_endpoint: HttpUrl | None = Field(
        None, description="Address for OpenTelemetry spans by OTLP over HTTP; empty sends none."
    )
    metrics_host: str = Field("127.0.0.1", description="Address that a worker serves its metrics on.")
    metrics_port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="Port of a worker's /metrics, under `labcrew up` the first of them; 0 is any, empty none.",
    )
    metrics_token: SecretStr | None = Field(
        None,
        description="Bearer token that /metrics asks for; without one, production's API and workers off "
        "loopback show none.",
    )
    retention: RetentionSetting = Field(
        RetentionPeriods(),
        description="Days that ended objects are kept: JSON by kind (docs/operations.md), 0 for ever.",
    )
    xdg_runtime_dir: Path | None = Field(
        None, description="Private folder with a short path, for sockets when LABCREW_HOME's is too long."
    )

    @property
    def home(self) -> Path:
        return self.labcrew_home.expanduser().absolute()

    @property
    def production(self) -> bool:
        return self.labcrew_env == "production"
