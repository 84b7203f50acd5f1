"""What goes wrong with a bucket is said in words, in bounded time, and without its secret."""

import asyncio
import os
import socket
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.integration.storage.conftest import LIMITS, SECRET, S3Server, serving_s3
from tests.patience import HANG_GUARD_S, hang_guard

from app.errors import LabError, NotFound, Unavailable
from app.storage.blobs import StoreUnavailable
from app.storage.bucket import Bucket
from app.storage.s3 import S3Blobs

ABSENT = "0" * 64


async def refusals(blobs: S3Blobs) -> set[tuple[type[LabError], str]]:
    """What each use of the store that fails ends with; none tells the secret."""

    async def read() -> None:
        async for _ in blobs.open(ABSENT):
            pass

    async def look() -> None:
        async for _ in blobs.stored_before(0):
            pass

    uses = (
        blobs.put_bytes(b"x"),
        look(),
        blobs.check_access(),
        read(),
        blobs.size(ABSENT),
        blobs.forget(ABSENT, 0),
    )
    ends = await asyncio.gather(*uses, return_exceptions=True)
    failures = [end for end in ends if isinstance(end, LabError)]
    assert all(SECRET not in "".join(traceback.format_exception(failure)) for failure in failures)
    return {(type(failure), failure.code) for failure in failures}


async def test_refused_keys_are_named(denied: Bucket, tmp_path: Path) -> None:
    blobs = S3Blobs(denied, tmp_path)
    assert await refusals(blobs) == {(Unavailable, "blob_store_denied")}
    with pytest.raises(Unavailable, match="AWS_SECRET_ACCESS_KEY"):
        await blobs.check_access()
    assert SECRET not in repr(denied)


async def test_a_missing_bucket_is_reported_where_the_server_tells(bucket: Bucket, tmp_path: Path) -> None:
    blobs = S3Blobs(replace(bucket, name="nobody-made-it"), tmp_path)
    # To a HEAD the server only says 404: there is no such blob either.
    assert await refusals(blobs) == {(Unavailable, "blob_store_missing"), (NotFound, "blob_not_found")}
    with pytest.raises(Unavailable, match=r"no such bucket: s3://nobody-made-it/lab/crew.*BLOB_STORE"):
        await blobs.check_access()


async def test_a_store_without_a_server_is_unavailable(bucket: Bucket, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        endpoint = f"http://127.0.0.1:{taken.getsockname()[1]}"
    assert await refusals(
        S3Blobs(replace(bucket, endpoint=endpoint, max_retry_s=0.5), tmp_path)
    ) == {  # clock: nobody is there
        (StoreUnavailable, "blob_store_away")
    }


@asynccontextmanager
async def silent() -> AsyncIterator[str]:
    """Takes requests and never answers."""
    leave = asyncio.Event()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await leave.wait()
        writer.close()

    async with await asyncio.start_server(take, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        leave.set()


async def test_a_store_that_never_answers_is_given_up(bucket: Bucket, tmp_path: Path) -> None:
    async with silent() as endpoint:
        blobs = S3Blobs(
            replace(bucket, endpoint=endpoint, max_stall_s=0.3, max_retry_s=0.2), tmp_path
        )  # clock: its expiry is what is tested
        async with hang_guard():
            with pytest.raises(StoreUnavailable):
                await blobs.put_bytes(b"x")


async def test_a_store_that_comes_back_is_waited_for(tmp_path: Path) -> None:
    with serving_s3(tmp_path / "server") as server:
        bucket = replace(server.make_bucket(), max_retry_s=HANG_GUARD_S)
        port = int(server.endpoint.rpartition(":")[2])
        blobs = S3Blobs(bucket, tmp_path / "cache", LIMITS)
        first = await blobs.put_bytes(b"before")
    uses = asyncio.gather(blobs.put_bytes(b"after"), blobs.size(first.digest))
    await asyncio.sleep(0)
    with serving_s3(tmp_path / "server", port):
        second, size = await uses
        assert size == 6
        assert await blobs.size(second.digest) == 5


async def test_an_access_check_leaves_the_bucket_unchanged(
    s3: S3Server, bucket: Bucket, tmp_path: Path
) -> None:
    blobs = S3Blobs(bucket, tmp_path)
    digest = (await blobs.put_bytes(b"kept")).digest
    await blobs.check_access()
    files = [path for path in (s3.folder / bucket.name / bucket.prefix).rglob("*") if path.is_file()]
    assert files == [s3.object(bucket, digest)]


async def test_large_files_go_in_parts_and_leave_none(s3: S3Server, bucket: Bucket, tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(os.urandom(20 << 20))
    blobs = S3Blobs(bucket, tmp_path / "cache")
    digest = (await blobs.put_file(path)).digest
    (tmp_path / "cache" / digest).unlink()
    assert (await blobs.local_path(digest)).read_bytes() == path.read_bytes()
    assert not list((s3.folder / ".nanio" / "multipart").iterdir())
