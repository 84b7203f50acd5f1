"""What every blob store promises: one suite for all of them."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from hashlib import sha256
from pathlib import Path

import asyncpg
import pytest
from tests.integration.storage.conftest import LIMITS, S3Server
from tests.patience import HANG_GUARD_S

from app.errors import InvalidInput, NotFound, TooLarge
from app.storage.blobs import CHUNK_BYTES, BlobLimits, BlobStore
from app.storage.bucket import Bucket
from app.storage.copying import copy_blobs
from app.storage.folder import FolderBlobs
from app.storage.postgres import PostgresBlobs
from app.storage.s3 import S3Blobs

ABSENT = "0" * 64
SIZES = (0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 9 * CHUNK_BYTES + 17)

MakeOlder = Callable[[str, float], Awaitable[object]]


@pytest.fixture
def make_older(store: BlobStore, request: pytest.FixtureRequest, tmp_path: Path) -> MakeOlder:
    """As if a blob had been written so many seconds earlier."""

    async def make_older(digest: str, by_s: float) -> object:
        if isinstance(store, PostgresBlobs):
            older = "UPDATE blobs SET created_at = created_at - make_interval(secs => $2) WHERE digest = $1"
            return await store._pool.execute(older, digest, by_s)
        if isinstance(store, S3Blobs):
            s3: S3Server = request.getfixturevalue("s3")
            return s3.make_older(request.getfixturevalue("bucket"), digest, by_s)
        path = tmp_path / "blobs" / digest[:2] / digest
        return os.utime(path, (time.time() - by_s,) * 2)  # clock: a date

    return make_older


async def read(store: BlobStore, digest: str, start: int = 0, end: int | None = None) -> bytes:
    return b"".join([piece async for piece in store.open(digest, start, end)])


def a_file(folder: Path, size: int) -> Path:
    path = folder / f"file-{size}"
    path.write_bytes(os.urandom(size))
    return path


async def test_stored_bytes_are_read_back_by_their_digest(store: BlobStore, tmp_path: Path) -> None:
    for size in SIZES:
        path = a_file(tmp_path, size)
        blob = await store.put_file(path)
        content = path.read_bytes()
        assert (blob.digest, blob.size_bytes) == (sha256(content).hexdigest(), size)
        assert await store.put_bytes(content) == blob
        assert await store.size(blob.digest) == size
        assert await read(store, blob.digest) == content


async def test_a_blob_of_one_chunk_is_one_statement(database_url: str, tmp_path: Path) -> None:
    statements: list[str] = []
    async with asyncpg.create_pool(database_url, min_size=1, max_size=1) as pool:
        async with pool.acquire() as connection:
            connection.add_query_logger(lambda record: statements.append(record.query))
        blobs = PostgresBlobs(pool, tmp_path / "cache", LIMITS)
        await blobs.put_file(a_file(tmp_path, CHUNK_BYTES))
    # Without the pool's own reset of a connection.
    assert len([statement for statement in statements if "RESET ALL" not in statement]) == 1, statements


async def test_a_range_is_cut_at_the_end(store: BlobStore, tmp_path: Path) -> None:
    path = a_file(tmp_path, 5 * CHUNK_BYTES + 17)
    content, digest = path.read_bytes(), (await store.put_file(path)).digest
    for start, end in (
        (0, 1),
        (CHUNK_BYTES - 1, CHUNK_BYTES + 1),
        (CHUNK_BYTES, 2 * CHUNK_BYTES),
        (17, 4 * CHUNK_BYTES + 99),
        (len(content) - 1, len(content) + 50),
        (len(content), None),
        (5, 5),
    ):
        assert await read(store, digest, start, end) == content[start:end]


async def test_a_local_path_is_read_only_and_has_the_bytes(store: BlobStore, tmp_path: Path) -> None:
    blob = await store.put_bytes(b"abc")
    paths = await asyncio.gather(*(store.local_path(blob.digest) for _ in range(8)))
    assert {path.read_bytes() for path in paths} == {b"abc"}
    assert paths[0].stat().st_mode & 0o777 == 0o444


async def test_a_digest_without_bytes_is_not_found(store: BlobStore) -> None:
    for call in (store.size(ABSENT), store.local_path(ABSENT), read(store, ABSENT)):
        with pytest.raises(NotFound):
            await call


async def test_a_digest_never_becomes_another_path(store: BlobStore) -> None:
    for digest in ("../../etc/passwd", "A" * 64, "", "a" * 63, "a" * 64 + "\n"):
        for call in (
            store.size(digest),
            store.local_path(digest),
            read(store, digest),
            store.forget(digest, 0),
        ):
            with pytest.raises(InvalidInput):
                await call


async def test_too_large_a_blob_is_refused_and_leaves_no_file(store: BlobStore, tmp_path: Path) -> None:
    path = a_file(tmp_path, LIMITS.max_bytes + 1)
    content = path.read_bytes()
    with pytest.raises(TooLarge, match="at most 12,582,912"):
        await store.put_file(path)
    with pytest.raises(TooLarge):
        await store.put_bytes(content)
    with pytest.raises(NotFound):
        await store.size(sha256(content).hexdigest())
    assert not [left for left in os.walk(tmp_path) if any(name.startswith(".part-") for name in left[2])]


async def test_many_writers_of_the_same_bytes_make_one_blob(store: BlobStore, tmp_path: Path) -> None:
    path = a_file(tmp_path, 2 * CHUNK_BYTES + 5)
    blobs = await asyncio.gather(*(store.put_file(path) for _ in range(4)))
    assert len(set(blobs)) == 1
    assert await read(store, blobs[0].digest) == path.read_bytes()


async def test_only_old_blobs_are_deleted(store: BlobStore, make_older: MakeOlder) -> None:
    digest = (await store.put_bytes(b"once")).digest
    assert [old async for old in store.stored_before(3600)] == []
    assert not await store.forget(digest, 3600)
    await make_older(digest, 7200)
    assert [old async for old in store.stored_before(3600)] == [digest]
    assert await store.forget(digest, 3600)
    assert not await store.forget(digest, 3600)
    with pytest.raises(NotFound):
        await store.size(digest)
    assert (await store.put_bytes(b"once")).digest == digest
    assert await read(store, digest) == b"once"


async def test_a_second_put_renews_the_time_of_a_blob(store: BlobStore, make_older: MakeOlder) -> None:
    digest = (await store.put_bytes(b"twice")).digest
    await make_older(digest, 7200)
    await store.put_bytes(b"twice")
    assert not await store.forget(digest, 3600)


async def test_a_blob_that_another_process_sweeps_meanwhile_stops_no_sweep(tmp_path: Path) -> None:
    store = FolderBlobs(tmp_path, LIMITS)
    digest = (await store.put_bytes(b"swept")).digest
    (tmp_path / digest[:2] / digest).unlink()
    (tmp_path / digest[:2] / digest).symlink_to("swept away")
    assert [found async for found in store.stored_before(0)] == []
    assert not await store.forget(digest, 0)


async def test_the_cache_stays_within_its_bound(remote: BlobStore, tmp_path: Path) -> None:
    digests = [(await remote.put_bytes(os.urandom(2 << 20))).digest for _ in range(5)]
    for n, digest in enumerate(digests):
        path = await remote.local_path(digest)
        os.utime(path, (time.time() - 100 + n,) * 2)  # clock: a date
    kept = {path.name for path in (tmp_path / "cache").iterdir()}
    assert kept == set(digests[2:])
    assert (await remote.local_path(digests[0])).is_file()


async def test_a_copy_that_is_in_use_is_not_evicted(bucket: Bucket, tmp_path: Path) -> None:
    limits = BlobLimits(max_bytes=12 << 20, cache_bytes=1 << 20, cache_grace_s=HANG_GUARD_S)
    store = S3Blobs(bucket, tmp_path / "cache", limits)
    paths = [await store.local_path((await store.put_bytes(os.urandom(1 << 20))).digest) for _ in range(4)]
    assert all(path.is_file() for path in paths)


async def test_a_copy_evicted_by_another_process_breaks_no_eviction(remote: BlobStore, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / ABSENT).symlink_to("evicted")
    path = await remote.local_path((await remote.put_bytes(b"still wanted")).digest)
    assert path.read_bytes() == b"still wanted"


@pytest.mark.parametrize(("age_s", "stays"), [(0, True), (7200, False)])
async def test_a_copy_that_is_being_written_is_not_evicted_until_its_writer_is_gone(
    remote: BlobStore, tmp_path: Path, age_s: float, stays: bool
) -> None:
    part = tmp_path / "cache" / ".part-of-another-process"
    part.parent.mkdir()
    part.write_bytes(bytes(5 << 20))
    os.utime(part, (time.time() - age_s,) * 2)  # clock: a date
    for _ in range(2):
        await remote.local_path((await remote.put_bytes(os.urandom(4 << 20))).digest)
    assert part.exists() == stays


async def test_damaged_bytes_are_never_returned(
    remote: BlobStore, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    digest = (await remote.put_bytes(b"right")).digest
    if isinstance(remote, PostgresBlobs):
        await remote._pool.execute("UPDATE blob_chunks SET data = 'wrong'::bytea")
    else:
        s3: S3Server = request.getfixturevalue("s3")
        s3.object(request.getfixturevalue("bucket"), digest).write_bytes(b"wrong")
    with pytest.raises(NotFound):
        await remote.local_path(digest)
    assert not [path for path in (tmp_path / "cache").iterdir() if path.is_file()]


async def test_a_put_that_is_cut_leaves_no_blob(postgres_blobs: PostgresBlobs, tmp_path: Path) -> None:
    remote = postgres_blobs
    path = a_file(tmp_path, 10 << 20)
    put = asyncio.create_task(remote.put_file(path))
    await asyncio.sleep(0.03)  # clock: wherever it is cut, no half of a blob may stay
    put.cancel()
    with pytest.raises(asyncio.CancelledError):
        await put
    stored = await remote._pool.fetchval("SELECT count(*) FROM blobs")
    chunks = await remote._pool.fetchval("SELECT count(*) FROM blob_chunks")
    assert (stored, chunks) in {(0, 0), (1, 10)}
    assert (await remote.put_file(path)).size_bytes == 10 << 20


async def test_blobs_are_copied_to_another_store_once(folder_blobs: FolderBlobs, s3_blobs: S3Blobs) -> None:
    digests = [(await folder_blobs.put_bytes(bytes([n]) * n)).digest for n in (1, 2, 3)]
    await s3_blobs.put_bytes(b"\x02\x02")
    first = {blob.digest: new async for blob, new in copy_blobs(folder_blobs, s3_blobs)}
    assert first == dict(zip(digests, (True, False, True), strict=True))
    assert not any([new async for _, new in copy_blobs(folder_blobs, s3_blobs)])
    assert await read(s3_blobs, digests[2]) == b"\x03\x03\x03"
