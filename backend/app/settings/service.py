"""Settings of folders, addresses, logs, metrics and retention."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from app.agent_jobs.config import QueueConfig
from app.deletion.retention_periods import RetentionPeriods
from app.errors import InvalidInput
from app.settings.setting_types import (
    EmailAddress,
    Hosts,
    HttpUrl,
    Origins,
    Owners,
    Recipients,
    RedisUrl,
    RetentionSetting,
    SettingsPart,
    SmtpUrl,
)
from app.workflows.requests.mail_config import MailConfig


class ServiceSettings(SettingsPart):
    labcrew_home: Path = Field(
        Path(".labcrew"), description="Data folder of the service and its embedded servers."
    )
    labcrew_env: Literal["development", "production"] = Field(
        "development", description="`production` refuses to start without SECRET_KEY."
    )
    api_host: str = Field("127.0.0.1", description="Address that the API listens on.")
    api_port: int = Field(8000, ge=0, le=65535, description="Port that the API listens on; 0 takes a free one.")
    cors_origins: Origins = Field(
        (), description="Web origins, with commas between, whose pages may call the API; empty allows none."
    )
    compatible_paths: bool = Field(
        False,
        description="Also answer at shorter paths without /api/v1, such as /chat, /threads and /api/tools/sql.",
    )
    http_allowed_hosts: Hosts = Field(
        (),
        description="Hosts that workflows may send requests to, with commas between (api.example.com, "
        "*.example.com); a private address only if it is listed itself. Empty allows none.",
    )
    smtp_url: SmtpUrl | None = Field(
        None,
        description="Mail server of workflows' messages: smtp://[user:password@]host[:port], or smtps://. "
        "Empty: none.",
    )
    mail_sender: EmailAddress | None = Field(None, description="Sender of those e-mails; needed with SMTP_URL.")
    mail_recipients: Recipients = Field(
        (),
        description="Who they may go to beside the owner's own address, with commas between: addresses, "
        "@example.com.",
    )
    agent_queue_url: RedisUrl | None = Field(
        None,
        description="Redis or Valkey whose list `agent:jobs` machines push jobs to: a server or user of its "
        "own, for keys and channels `agent:*`. Empty: none.",
    )
    agent_queue_owners: Owners = Field(
        {},
        description="Accounts that jobs of the queue belong to: `workflow_owner=address`, with commas between.",
    )
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
    def mail(self) -> MailConfig | None:
        """Raises InvalidInput for a server without a sender."""
        if self.smtp_url is None:
            return None
        if self.mail_sender is None:
            raise InvalidInput("bad_setting", "SMTP_URL needs MAIL_SENDER.", settings=["MAIL_SENDER"])
        return MailConfig(self.smtp_url, self.mail_sender, self.mail_recipients)

    @property
    def agent_queue(self) -> QueueConfig:
        return QueueConfig(self.agent_queue_url, self.agent_queue_owners)

    @property
    def production(self) -> bool:
        return self.labcrew_env == "production"
