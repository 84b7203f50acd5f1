"""Types of settings, with their validation."""

import json
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.deletion.retention_periods import RetentionPeriods
from app.errors import InvalidInput
from app.redis_address import SENTINEL_SCHEMES, parse_sentinel_service
from app.sessions.budget_request import BudgetRequest
from app.storage.bucket import parse_address
from app.workflows.requests.host_rules import check_pattern
from app.workflows.requests.mail_config import check_address

MIB = 1 << 20


class SettingsPart(BaseSettings):
    """Some of the settings. Only the whole is read, so that validators of parts need not be built."""

    model_config = SettingsConfigDict(defer_build=True)


def _with_scheme(*schemes: str) -> AfterValidator:
    def check(url: str) -> str:
        if not url.startswith(tuple(f"{scheme}://" for scheme in schemes)):
            raise ValueError(f"it must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}")
        return url

    return AfterValidator(check)


def _as_redis_address(address: str) -> str:
    parse_sentinel_service(address)
    return address


def _as_blob_address(address: str) -> str:
    parse_address(address)
    return address


def _as_hosts(text: object) -> object:
    """Split a list with commas into patterns of hosts."""
    return (
        tuple(check_pattern(part) for part in text.split(",") if part.strip())
        if isinstance(text, str)
        else text
    )


def _as_email_address(text: str) -> str:
    try:
        return check_address(text)
    except InvalidInput:
        raise ValueError("it is no address like ops@example.com") from None


def _as_recipients(text: object) -> object:
    """Split a list with commas into addresses and domains."""
    if not isinstance(text, str):
        return text
    recipients = tuple(part.strip().lower() for part in text.split(",") if part.strip())
    for recipient in recipients:
        if "@" not in recipient or recipient.endswith("@"):
            raise ValueError(f"{recipient} is no address like ops@example.com and no domain like @example.com")
    return recipients


def _as_owners(text: object) -> object:
    """Split a list with commas into names and the addresses of their accounts."""
    if not isinstance(text, str):
        return text
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    for name, _, address in pairs:
        if not name.strip() or "@" not in address:
            raise ValueError("it must be pairs like flights=ada@example.com")
    return {name.strip(): address.strip().lower() for name, _, address in pairs}


def _as_json(text: object) -> object:
    return json.loads(text) if isinstance(text, str) else text


def _as_origins(text: object) -> object:
    """Split a list with commas; an origin is a scheme, a host and perhaps a port, as browsers send it."""
    if not isinstance(text, str):
        return text
    origins = tuple(origin.strip().rstrip("/") for origin in text.split(",") if origin.strip())
    for origin in origins:
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path or "*" in origin:
            raise ValueError(f"{origin} is no origin like https://lab.example.com")
    return origins


PostgresUrl = Annotated[str, _with_scheme("postgresql", "postgres", "postgresql+asyncpg")]
RedisUrl = Annotated[
    str, _with_scheme("redis", "rediss", "unix", *SENTINEL_SCHEMES), AfterValidator(_as_redis_address)
]
BlobAddress = Annotated[str, AfterValidator(_as_blob_address)]
# `NoDecode`: pydantic-settings would read these as JSON before the functions above see them.
Budget = Annotated[BudgetRequest, NoDecode, BeforeValidator(_as_json)]
RetentionSetting = Annotated[RetentionPeriods, NoDecode, BeforeValidator(_as_json)]
Origins = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_as_origins)]
SmtpUrl = Annotated[str, _with_scheme("smtp", "smtps")]
EmailAddress = Annotated[str, AfterValidator(_as_email_address)]
Recipients = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_as_recipients)]
Owners = Annotated[Mapping[str, str], NoDecode, BeforeValidator(_as_owners)]
Hosts = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_as_hosts)]
HttpUrl = Annotated[str, _with_scheme("http", "https")]
