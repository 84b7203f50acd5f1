"""Bucket of S3 or of a compatible server: its address, its client with retries, and its errors."""

import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from app.errors import LabError, Unavailable
from app.storage.blobs import StoreUnavailable

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig, S3Store

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PREFIX = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)*", re.ASCII)
_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w+)</Code>|\(code: (\w+)\)")
_MAX_CONNECT_S = 3.0
"""Seconds for a connection: TCP sends a lost request for one again after 1 s and after 3 s."""
_DENIED = frozenset({"401", "403"})
_MISSING = "NoSuchBucket"
_THROTTLED = "429"
_PERMISSIONS_HINT = (
    "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they may list the bucket and get, put and "
    "delete its objects."
)


@dataclass(frozen=True)
class Bucket:
    """Address of a bucket, and its keys; without keys those of the machine's or container's role are used."""

    name: str
    prefix: str = ""
    endpoint: str | None = None
    region: str | None = None
    access_key_id: str | None = field(default=None, repr=False)
    secret_access_key: str | None = field(default=None, repr=False)
    max_retry_s: float = 30.0
    """Seconds for which a failed request is repeated; `resources` sets it by the role of the process."""
    max_stall_s: float = 30.0
    """Seconds that a request may go without a byte in answer."""

    @property
    def address(self) -> str:
        at = f" at {self.endpoint}" if self.endpoint else ""
        return f"s3://{self.name}/{self.prefix}".rstrip("/") + at


def parse_address(address: str) -> tuple[str, str]:
    """Parse `s3://bucket/prefix` to bucket and prefix. Raises ValueError, which does not repeat the address."""
    parts = urlsplit(address)
    if parts.scheme != "s3" or "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("it must be s3://bucket or s3://bucket/prefix; keys are settings of their own")
    if not _NAME.fullmatch(parts.netloc):
        raise ValueError("a bucket's name has 3 to 63 lower-case letters, digits, dots and dashes")
    prefix = parts.path.strip("/")
    if prefix and not _PREFIX.fullmatch(prefix):
        raise ValueError("the prefix must be plain names with single slashes between")
    return parts.netloc, prefix


def open_bucket(bucket: Bucket) -> "S3Store":
    """Make a client, without a request yet."""
    from obstore.store import S3Store  # noqa: PLC0415 - 15 MB that a service without S3 never loads

    keys = {
        "region": bucket.region,
        "endpoint": bucket.endpoint,
        "access_key_id": bucket.access_key_id,
        "secret_access_key": bucket.secret_access_key,
    }
    client: ClientConfig = {
        "allow_http": (bucket.endpoint or "").startswith("http://"),
        "connect_timeout": timedelta(seconds=min(_MAX_CONNECT_S, bucket.max_stall_s)),
        "read_timeout": timedelta(seconds=bucket.max_stall_s),
        # A part of 8 MiB that trickles: as long as four stalls, then it is sent again.
        "timeout": timedelta(seconds=4 * bucket.max_stall_s),
    }
    retry: RetryConfig = {
        "max_retries": 100,  # never reached: `retry_timeout` ends the retries
        "retry_timeout": timedelta(seconds=bucket.max_retry_s),
        "backoff": {
            "init_backoff": timedelta(milliseconds=100),
            "max_backoff": timedelta(seconds=2),
            "base": 2,
        },
    }
    options: dict[str, Any] = {name: value for name, value in keys.items() if value}
    return S3Store(
        bucket.name,
        prefix=bucket.prefix or None,
        client_options=client,
        retry_config=retry,
        checksum_algorithm="sha256",  # the server refuses bytes that were changed on the way
        **options,
    )


def bucket_error(error: Exception, bucket: Bucket) -> LabError | None:
    """Translate the error of a request; None where only the object is missing.

    By the text of the error: obstore has no classes for statuses and codes.
    """
    text = str(error)
    status = match.group(1) if (match := _STATUS.search(text)) else ""
    code_match = _CODE.search(text)
    code = (code_match.group(1) or code_match.group(2)) if code_match else ""
    reason = f" ({code or status})" if code or status else ""
    at = bucket.address
    if code == _MISSING:
        return Unavailable(
            "blob_store_missing", f"There is no such bucket: {at}. Make it, or correct BLOB_STORE."
        )
    if isinstance(error, FileNotFoundError):
        return None
    if status in _DENIED:
        return Unavailable("blob_store_denied", f"{at} refuses access{reason}. {_PERMISSIONS_HINT}")
    if status and status != _THROTTLED and not status.startswith("5"):
        return Unavailable("blob_store_refused", f"{at} refuses a request{reason}.")
    return StoreUnavailable("blob_store_away", f"{at} does not answer{reason}; is AWS_ENDPOINT_URL right?")
