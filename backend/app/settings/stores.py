"""Settings of Postgres, Redis and the blob store."""

from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from pydantic import Field, SecretStr

from app.errors import InvalidInput
from app.settings.setting_types import MIB, BlobAddress, HttpUrl, PostgresUrl, RedisUrl, SettingsPart
from app.storage.blobs import BlobLimits
from app.storage.bucket import Bucket, parse_address


class StoreSettings(SettingsPart):
    database_url: PostgresUrl | None = Field(
        None, description="Postgres 14 or newer; empty runs the embedded one under LABCREW_HOME."
    )
    redis_url: RedisUrl | None = Field(
        None, description="Redis or Valkey, or its Sentinels; empty: REDIS_HOST, or the embedded one."
    )
    redis_host: str | None = Field(None, description="Host of Redis, in place of REDIS_URL.")
    redis_port: int = Field(6379, ge=1, le=65535, description="Port of Redis.")
    redis_db: int = Field(0, ge=0, description="Number of the Redis database.")
    redis_password: SecretStr | None = Field(None, description="Password of Redis.")
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

    @property
    def redis_address(self) -> str | None:
        """REDIS_URL, or the URL of REDIS_HOST, REDIS_PORT, REDIS_DB and REDIS_PASSWORD."""
        if self.redis_url or not self.redis_host:
            return self.redis_url
        password = self.redis_password.get_secret_value() if self.redis_password else ""
        # A password may hold the characters that part an address.
        login = f":{quote(password, safe='')}@" if password else ""
        return f"redis://{login}{self.redis_host}:{self.redis_port}/{self.redis_db}"

    @property
    def blobs(self) -> BlobLimits:
        # An upload is a blob as well.
        return BlobLimits(max_bytes=max(self.artifact_max_size_mb, self.upload_max_size_mb) * MIB)

    @cached_property
    def bucket(self) -> Bucket | None:
        """Bucket for blobs, or None: Postgres or a folder. Raises InvalidInput where two stores are named."""
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
