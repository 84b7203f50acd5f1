"""Types of settings, with their validation."""

import json
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator
from pydantic_settings import NoDecode

from app.deletion.retention_periods import RetentionPeriods
from app.redis_address import SENTINEL_SCHEMES, parse_sentinel_service
from app.sessions.schemas import BudgetRequest
from app.storage.bucket import parse_address

MIB = 1 << 20


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


def _as_json(text: object) -> object:
    return json.loads(text) if isinstance(text, str) else text


PostgresUrl = Annotated[str, _with_scheme("postgresql", "postgres", "postgresql+asyncpg")]
RedisUrl = Annotated[
    str, _with_scheme("redis", "rediss", "unix", *SENTINEL_SCHEMES), AfterValidator(_as_redis_address)
]
BlobAddress = Annotated[str, AfterValidator(_as_blob_address)]
Budget = Annotated[BudgetRequest, NoDecode, BeforeValidator(_as_json)]
RetentionSetting = Annotated[RetentionPeriods, NoDecode, BeforeValidator(_as_json)]
HttpUrl = Annotated[str, _with_scheme("http", "https")]
