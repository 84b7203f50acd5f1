"""A server that speaks S3, checks signatures and keeps objects as files."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest
from tests.patience import HANG_GUARD_S, ended, wait_until

from app.storage.blobs import BlobLimits, BlobStore
from app.storage.bucket import Bucket
from app.storage.folder import FolderBlobs
from app.storage.postgres import PostgresBlobs
from app.storage.s3 import S3Blobs

LIMITS = BlobLimits(max_bytes=12 << 20, cache_bytes=6 << 20, cache_grace_s=0.0)
SECRET = "told-to-nobody"
STORES = ("folder", "postgres", "s3")


@dataclass(frozen=True)
class S3Server:
    """Its buckets are folders of `folder`."""

    endpoint: str
    folder: Path

    def make_bucket(self) -> Bucket:
        name = f"test-{uuid4().hex}"
        (self.folder / name).mkdir()
        return Bucket(
            name,
            "lab/crew",
            self.endpoint,
            "us-east-1",
            "tests",
            SECRET,
            max_retry_s=HANG_GUARD_S,
            max_stall_s=HANG_GUARD_S,
        )

    def object(self, bucket: Bucket, digest: str) -> Path:
        return self.folder / bucket.name / bucket.prefix / digest[:2] / digest

    def make_older(self, bucket: Bucket, digest: str, by_s: float) -> None:
        """Without what it noted beside an object, the server goes by the file's time."""
        path = self.object(bucket, digest)
        notes = self.folder / bucket.name / ".nanio-meta" / bucket.prefix / digest[:2] / f"{digest}.json"
        notes.unlink()
        os.utime(path, (path.stat().st_mtime - by_s,) * 2)


@contextmanager
def serving_s3(folder: Path, port: int = 0) -> Iterator[S3Server]:
    if not port:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
    where = ["--data-dir", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-m", "nanio", "serve", *where, "--log-level", "error", "--no-access-log"],
        env={"PATH": os.environ["PATH"], "NANIO_ACCESS_KEY": "tests", "NANIO_SECRET_KEY": SECRET},
    )
    try:
        wait_until(lambda: _takes_connections(port), every_s=0.02)
        yield S3Server(f"http://127.0.0.1:{port}", folder)
    finally:
        process.terminate()
        ended(process)


def _takes_connections(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), HANG_GUARD_S).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    folder = tmp_path_factory.mktemp("s3")
    with serving_s3(folder) as server:
        yield server
    shutil.rmtree(folder)


@pytest.fixture
def bucket(s3: S3Server) -> Bucket:
    """An empty bucket of this test's own."""
    return s3.make_bucket()


@pytest.fixture
def s3_blobs(bucket: Bucket, tmp_path: Path) -> S3Blobs:
    return S3Blobs(bucket, tmp_path / "cache", LIMITS)


@pytest.fixture
def denied(bucket: Bucket) -> Bucket:
    return replace(bucket, secret_access_key="another-one")


@pytest.fixture
async def postgres_blobs(database_url: str, tmp_path: Path) -> AsyncIterator[PostgresBlobs]:
    async with asyncpg.create_pool(database_url, min_size=1, max_size=4) as pool:
        yield PostgresBlobs(pool, tmp_path / "cache", LIMITS)


@pytest.fixture
def folder_blobs(tmp_path: Path) -> FolderBlobs:
    return FolderBlobs(tmp_path / "blobs", LIMITS)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest) -> BlobStore:
    store: BlobStore = request.getfixturevalue(f"{request.param}_blobs")
    return store


@pytest.fixture(params=STORES[1:])
def remote(request: pytest.FixtureRequest) -> BlobStore:
    """Those with a cache of local copies in `tmp_path / "cache"`."""
    store: BlobStore = request.getfixturevalue(f"{request.param}_blobs")
    return store
