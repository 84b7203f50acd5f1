"""The environment, read once and checked at start; each package is handed its own config class from here.

A setting's description is its line in `.env.example` and in docs/settings.md; a test keeps the three alike.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.auth.config import AuthConfig
from app.auth.quotas import Amount, Quotas, Rate
from app.errors import InvalidInput
from app.llm.config import OFFLINE, ChatConfig
from app.llm.cost import load_prices
from app.modeling.nearest import nearest
from app.redis_address import SENTINEL_SCHEMES, service_of
from app.retention.config import Retention
from app.sandbox.container import Container
from app.sandbox.contract import Limits
from app.sandbox.process import ProcessConfig
from app.sessions.config import SessionsConfig
from app.sessions.schemas import BudgetWish
from app.storage.blobs import BlobLimits
from app.storage.bucket import Bucket, parse_address
from app.tools.registry import EVERY_AGENT

MIB = 1 << 20


def _with_scheme(*schemes: str) -> AfterValidator:
    def check(url: str) -> str:
        if not url.startswith(tuple(f"{scheme}://" for scheme in schemes)):
            raise ValueError(f"it must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}")
        return url

    return AfterValidator(check)


def _as_redis_address(address: str) -> str:
    service_of(address)
    return address


def _as_blob_address(address: str) -> str:
    parse_address(address)
    return address


def _as_json(text: object) -> object:
    return json.loads(text) if isinstance(text, str) else text


PostgresUrl = Annotated[str, _with_scheme("postgresql", "postgres", "postgresql+asyncpg")]
RedisUrl = Annotated[
    str, _with_scheme("redis", "rediss", "unix", *SENTINEL_SCHEMES), AfterValidator(_as_redis_address)
]
BlobAddress = Annotated[str, AfterValidator(_as_blob_address)]
Budget = Annotated[BudgetWish, NoDecode, BeforeValidator(_as_json)]
Kept = Annotated[Retention, NoDecode, BeforeValidator(_as_json)]
HttpUrl = Annotated[str, _with_scheme("http", "https")]


class Settings(BaseSettings):
    """Read from the environment, then from `.env` in the working folder, by these names in capitals."""

    model_config = SettingsConfigDict(
        env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True, hide_input_in_errors=True
    )

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
        "INFO", description="Least level that is logged."
    )
    log_format: Literal["json", "console"] = Field(
        "json", description="One JSON object a line, or lines to read."
    )

    otel_exporter_otlp_endpoint: HttpUrl | None = Field(
        None, description="Where OpenTelemetry spans are sent by OTLP over HTTP; empty sends none."
    )

    metrics_host: str = Field("127.0.0.1", description="Address that a worker shows its figures on.")
    metrics_port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="Port of a worker's /metrics, under `labcrew up` the first of them; 0 is any, empty none.",
    )
    metrics_token: SecretStr | None = Field(
        None, description="Bearer token that /metrics asks for; without one, the API shows none in production."
    )

    database_url: PostgresUrl | None = Field(
        None, description="Postgres 14 or newer; empty runs the embedded one under LABCREW_HOME."
    )
    redis_url: RedisUrl | None = Field(
        None, description="Redis or Valkey, or its Sentinels; empty: REDIS_HOST, or the embedded one."
    )
    redis_host: str | None = Field(None, description="Host of Redis, for those who write it in parts.")
    redis_port: int = Field(6379, ge=1, le=65535, description="Port of Redis.")
    redis_db: int = Field(0, ge=0, description="Number of the Redis database.")
    redis_password: SecretStr | None = Field(None, description="Password of Redis.")

    secret_key: SecretStr | None = Field(
        None, description="Signs access tokens, 32 characters or more; made and kept in development."
    )
    secret_key_others: SecretStr | None = Field(
        None,
        description="Secrets that verify and sign nothing, with commas between: former and next SECRET_KEYs.",
    )
    registration: Literal["open", "closed"] = Field(
        "open", description="`closed` leaves new accounts to `labcrew user add`."
    )
    access_token_seconds: float = Field(900, gt=0, description="Life of an access token.")
    refresh_token_seconds: float = Field(2_592_000, gt=0, description="Life of a refresh token.")

    trusted_proxies: str | None = Field(
        None, description="Addresses of proxies, with commas between, whose X-Forwarded-For is believed."
    )
    address_requests: Rate = Field(
        "20000/minute", description="Requests of one network address; 0 is no limit."
    )
    address_sockets: Amount = Field(2000, description="Open streams of one network address; 0 is no limit.")
    user_requests: Rate = Field("10000/minute", description="Requests of one user; 0 is no limit.")
    user_uploads: Rate = Field("600/hour", description="Uploads of one user; 0 is no limit.")
    user_compute: Rate = Field(
        "200000/day", description="CPU seconds of one user's computations; 0 is no limit."
    )
    user_sockets: Amount = Field(1000, description="Open streams of one user; 0 is no limit.")
    user_stored_mb: Amount = Field(
        51_200, description="Datasets and artifacts of one user, in MiB; 0 is no limit."
    )
    user_sessions: Amount = Field(1000, description="Sessions of one user that have not ended; 0 is no limit.")
    user_running_sessions: Amount = Field(
        0, description="Of those, how many run at a time while more wait; 0 is no limit."
    )

    llm_provider: str | None = Field(
        None, description="Provider of the chat model (openai, anthropic, google_genai, ollama, ...)."
    )
    llm_model: str = Field(
        OFFLINE, description="`offline` needs no key; else a model name, alone or as `provider:name`."
    )
    llm_agent_models: dict[str, str] = Field(
        {}, description='Agents with a model of their own, as JSON: {"reporter": "provider:name"}.'
    )
    llm_fallback_models: list[str] = Field(
        [], description='Asked when a model fails for good, as JSON: ["provider:name", "offline"].'
    )
    llm_context_tokens: int | None = Field(
        None, ge=4_000, description="Most tokens sent to a model; empty: what it is known to take."
    )
    llm_base_url: HttpUrl | None = Field(None, description="Address of an OpenAI-compatible server.")
    openai_api_key: SecretStr | None = Field(None, description="Key for OpenAI, or for LLM_BASE_URL.")
    openai_model: str | None = Field(
        None, description="Model when LLM_PROVIDER is openai and LLM_MODEL is not set."
    )
    azure_openai_api_key: SecretStr | None = Field(None, description="Key for Azure OpenAI.")
    azure_openai_endpoint: HttpUrl | None = Field(None, description="Address of the Azure OpenAI resource.")
    openai_api_version: str | None = Field(
        None, description="Version of the Azure interface, such as 2025-04-01."
    )
    anthropic_api_key: SecretStr | None = Field(None, description="Key for Anthropic.")
    google_api_key: SecretStr | None = Field(None, description="Key for Google.")
    openrouter_api_key: SecretStr | None = Field(None, description="Key for OpenRouter.")
    max_tokens_per_request: int = Field(
        4096, ge=1, description="Most tokens that one answer of a chat model may have."
    )
    enable_streaming: bool = Field(True, description="Show a chat model's words as they come.")

    agent_max_retries: int = Field(2, ge=0, le=20, description="Tries again after a chat model failed.")
    agent_timeout_seconds: float = Field(
        120, gt=0, description="Longest that one answer of a chat model may take."
    )
    tools_config: Path | None = Field(
        None, description="TOML or JSON file that narrows the tools of each agent."
    )
    max_concurrent_sessions: int = Field(
        100, ge=0, description="Sessions that run at a time, of all users; more wait in line. 0 is no limit."
    )
    session_time_limit_seconds: float = Field(
        3600, gt=0, description="Longest that a session may run, without the time it waits for its user."
    )

    session_budget: Budget = Field(
        BudgetWish(),
        description="Budget of a session that asks for none: JSON of tokens, cost_usd, tool_calls, seconds.",
    )
    session_budget_max: Budget = Field(
        BudgetWish(), description="The most that a session may ask for and add; JSON as SESSION_BUDGET."
    )
    llm_prices: Path | None = Field(
        None, description="TOML or JSON file with the price of each chat model, in USD for a million tokens."
    )

    sandbox_provider: Literal["process", "docker"] = Field(
        "process", description="What computes: a process of this host, or a container without network."
    )
    sandbox_image: str = Field("labcrew", description="Image of that container, of this version of Labcrew.")
    sandbox_max_execution_time: float = Field(
        300, gt=0, description="Longest that one computation may take, in seconds."
    )
    sandbox_max_memory_mb: int = Field(2048, ge=128, description="Most memory of one computation.")
    sandbox_max_cells: int = Field(16, ge=1, description="Computations that run at once on a host.")

    cells_socket: Path | None = Field(
        None,
        description="Where the host's zygote listens, set by `labcrew up`; empty: each process starts its own.",
    )

    artifact_storage_path: Path | None = Field(
        None, description="Folder for artifacts, the same on every host; empty keeps them in Postgres."
    )
    blob_store: BlobAddress | None = Field(
        None,
        description="`s3://bucket/prefix` keeps artifacts there; empty: ARTIFACT_STORAGE_PATH.",
    )
    aws_endpoint_url: HttpUrl | None = Field(
        None, description="Address of an S3-compatible server; empty is Amazon's own of AWS_REGION."
    )
    aws_region: str | None = Field(None, description="Region of the bucket.")
    aws_access_key_id: SecretStr | None = Field(
        None, description="Key for the bucket; empty takes the role of the machine or container."
    )
    aws_secret_access_key: SecretStr | None = Field(None, description="Secret of that key.")
    artifact_max_size_mb: int = Field(512, ge=1, description="Largest artifact.")
    upload_max_size_mb: int = Field(512, ge=1, description="Largest upload.")
    prices_max_size_mb: int = Field(2048, ge=1, description="Largest file of bars of prices.")

    retention: Kept = Field(
        Retention(),
        description="How long what is over is kept: JSON of days by kind (docs/operations.md), 0 for ever.",
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

    @property
    def redis_address(self) -> str | None:
        """REDIS_URL, or the one that REDIS_HOST and its parts make."""
        if self.redis_url or not self.redis_host:
            return self.redis_url
        password = self.redis_password.get_secret_value() if self.redis_password else ""
        login = f":{quote(password, safe='')}@" if password else ""
        return f"redis://{login}{self.redis_host}:{self.redis_port}/{self.redis_db}"

    @cached_property
    def chat(self) -> ChatConfig:
        model = chat_model_name(self.llm_provider, self.llm_model, self.openai_model)
        keys = {
            "openai": self.openai_api_key,
            "azure_openai": self.azure_openai_api_key,
            "anthropic": self.anthropic_api_key,
            "google_genai": self.google_api_key,
            "openrouter": self.openrouter_api_key,
        }
        _check_agents(self.llm_agent_models)
        return ChatConfig(
            model=model,
            base_url=self.llm_base_url,
            keys={provider: key.get_secret_value() for provider, key in keys.items() if key},
            by_agent=self.llm_agent_models,
            fallbacks=tuple(self.llm_fallback_models),
            max_tokens=self.max_tokens_per_request,
            timeout_s=self.agent_timeout_seconds,
            max_retries=self.agent_max_retries,
            context_tokens=self.llm_context_tokens,
            azure_endpoint=self.azure_openai_endpoint,
            azure_api_version=self.openai_api_version,
            streaming=self.enable_streaming,
            prices=load_prices(self.llm_prices),
        )

    @property
    def auth(self) -> AuthConfig:
        return AuthConfig(
            access_ttl_s=self.access_token_seconds,
            refresh_ttl_s=self.refresh_token_seconds,
            registration=self.registration,
            quotas=self.quotas,
            address_requests=self.address_requests,
            address_sockets=self.address_sockets,
        )

    @property
    def quotas(self) -> Quotas:
        """Of a user who has none of their own."""
        return Quotas(
            requests=self.user_requests,
            uploads=self.user_uploads,
            compute=self.user_compute,
            sessions=self.user_sessions,
            running_sessions=self.user_running_sessions,
            sockets=self.user_sockets,
            stored_mb=self.user_stored_mb,
        )

    @property
    def other_secrets(self) -> list[str]:
        given = self.secret_key_others.get_secret_value() if self.secret_key_others else ""
        return [secret.strip() for secret in given.split(",") if secret.strip()]

    @property
    def sessions(self) -> SessionsConfig:
        return SessionsConfig(
            time_limit_s=self.session_time_limit_seconds,
            most_running=self.max_concurrent_sessions,
            most_running_per_owner=self.user_running_sessions,
            most_live_per_owner=self.user_sessions,
            budget=self.session_budget.model_dump(exclude_none=True),
            budget_most=self.session_budget_max.model_dump(exclude_none=True),
            unpriced=self.unpriced,
        )

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Chat models that sessions may think with and that have no price."""
        chat = self.chat
        models = dict.fromkeys((chat.model, *chat.by_agent.values(), *chat.fallbacks))
        return tuple(model for model in models if model != OFFLINE and model not in chat.prices)

    @property
    def limits(self) -> Limits:
        return Limits(
            time_s=self.sandbox_max_execution_time,
            memory_bytes=self.sandbox_max_memory_mb * MIB,
            disk_bytes=self.artifact_max_size_mb * MIB,
        )

    @property
    def cells(self) -> ProcessConfig:
        cells = ProcessConfig(self.home / "cells", self.sandbox_max_cells, socket=self.cells_socket)
        if self.sandbox_provider == "process":
            return cells
        blobs = (self.artifact_storage_path or self.home / "blobs").absolute()
        return replace(
            cells,
            container=Container(
                self.sandbox_image,
                cells.scratch,
                blobs,
                self.sandbox_max_memory_mb * MIB,
                self.sandbox_max_cells,
            ),
        )

    @property
    def blobs(self) -> BlobLimits:
        return BlobLimits(max_bytes=max(self.artifact_max_size_mb, self.upload_max_size_mb) * MIB)

    @cached_property
    def bucket(self) -> Bucket | None:
        """Where blobs go, if not into Postgres or a folder. Raises InvalidInput where two places are named."""
        if self.blob_store is None:
            return None
        if self.artifact_storage_path is not None:
            raise InvalidInput(
                "bad_setting",
                "BLOB_STORE and ARTIFACT_STORAGE_PATH name two places for the same bytes; set one of them.",
                settings=["BLOB_STORE", "ARTIFACT_STORAGE_PATH"],
            )
        name, prefix = parse_address(self.blob_store)
        key, secret = self.aws_access_key_id, self.aws_secret_access_key
        return Bucket(
            name,
            prefix,
            self.aws_endpoint_url,
            self.aws_region,
            key.get_secret_value() if key else None,
            secret.get_secret_value() if secret else None,
        )


def load_settings(**given: Any) -> Settings:
    """Settings of this process; `given` wins over the environment. Raises InvalidInput in one sentence."""
    try:
        settings = Settings(**given)
    except ValidationError as error:
        raise _refusal(error) from None
    _ = settings.chat, settings.bucket  # refuse what no single field can refuse
    return settings


def chat_model_name(provider: str | None, model: str, openai_model: str | None) -> str:
    """`offline` or `provider:name`, from the three settings that users know."""
    if ":" in model and not provider:
        return model
    if provider in (None, OFFLINE):
        if model == OFFLINE:
            return OFFLINE
        raise InvalidInput(
            "bad_setting",
            f"LLM_MODEL={model} does not say whose model it is: write provider:{model}, or set LLM_PROVIDER.",
            settings=["LLM_MODEL", "LLM_PROVIDER"],
        )
    name = openai_model if provider == "openai" and model == OFFLINE else model
    if not name or name == OFFLINE:
        raise InvalidInput(
            "bad_setting",
            f"LLM_PROVIDER={provider} needs a model: set LLM_MODEL"
            + (" or OPENAI_MODEL." if provider == "openai" else "."),
            settings=["LLM_MODEL"],
        )
    return f"{provider}:{name.removeprefix(f'{provider}:')}"


def _check_agents(models: Mapping[str, str]) -> None:
    for agent in models:
        if agent not in EVERY_AGENT:
            raise InvalidInput(
                "bad_setting",
                f"LLM_AGENT_MODELS names {agent!r}; the agents are {', '.join(EVERY_AGENT)}.",
                settings=["LLM_AGENT_MODELS"],
                nearest=nearest(agent, EVERY_AGENT),
            )


def child_environment(changes: Mapping[str, str]) -> dict[str, str]:
    """This process's environment for one of the service's own processes, with `changes`."""
    return {**os.environ, **changes}


_SECRET_NAMES = ("TOKEN", "KEY", "KEY_ID", "PASSWORD", "URL", "SECRET_KEY_OTHERS", "BLOB_STORE")


def _refusal(error: ValidationError) -> InvalidInput:
    """Every wrong setting by name; the value too, unless it may hold a secret."""
    wrong = error.errors(include_url=False, include_input=True)
    sentences = []
    for one in wrong:
        name = str(one["loc"][0]).upper() if one["loc"] else "settings"
        shown = "" if name.endswith(_SECRET_NAMES) else f"={one.get('input')}"
        reason = one["msg"].removeprefix("Value error, ").removeprefix("Input ")
        sentences.append(f"{name}{shown}: {reason}")
    plural = "These settings are" if len(sentences) > 1 else "This setting is"
    return InvalidInput(
        "bad_setting",
        f"{plural} wrong. {'; '.join(sentences)}.",
        settings=[str(one["loc"][0]).upper() for one in wrong if one["loc"]],
    )
