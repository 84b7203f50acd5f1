"""Uploads in pieces: what arrived counts, nothing counts twice, and the end is a dataset."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import bokeh_sampledata
import pytest
import uvicorn
from fastapi import FastAPI
from tests.patience import hang_guard

from app.api.server.protocols import EdgeProtocol
from app.auth.storage_quota import StorageQuota
from app.datasets.service import Datasets
from app.db.tables import DatasetRow

from .conftest import NewUser, User
from .test_deletion import add
from .test_ownership import an_artifact
from .test_slowness import connected
from .test_stream import listening_server

TITANIC = (Path(bokeh_sampledata.__file__).parent / "_data" / "titanic_all.csv").read_bytes()


async def begin(user: User, size_bytes: int = len(TITANIC)) -> str:
    made = await user.http.post("/uploads", json={"filename": "titanic.csv", "size_bytes": size_bytes})
    assert made.status_code == 201, made.text
    assert made.json()["offset"] == 0
    return str(made.json()["id"])


async def send(user: User, upload: str, offset: int, piece: bytes) -> tuple[int, int]:
    """Send a piece; the status and where the next one begins."""
    sent = await user.http.put(f"/uploads/{upload}", params={"offset": offset}, content=piece)
    return sent.status_code, sent.json()["offset"]


async def test_pieces_become_a_dataset_once(ada: User) -> None:
    upload, half = await begin(ada), len(TITANIC) // 2
    assert await send(ada, upload, 0, TITANIC[:half]) == (200, half)
    early = await ada.http.post(f"/uploads/{upload}/dataset")
    assert (early.status_code, early.json()["code"]) == (409, "upload_incomplete")
    # A piece that was sent twice, and one too early.
    for offset in (0, half + 1):
        assert await send(ada, upload, offset, TITANIC[offset:]) == (409, half)
    assert await send(ada, upload, half, TITANIC[half:]) == (200, len(TITANIC))
    made = [await ada.http.post(f"/uploads/{upload}/dataset") for _ in range(2)]
    assert [each.status_code for each in made] == [201, 201]
    assert made[0].json() == made[1].json()
    assert (made[0].json()["name"], made[0].json()["rows"]) == ("titanic", 1313)
    assert (await ada.http.get(f"/uploads/{upload}")).status_code == 404


@pytest.fixture
async def port(app: FastAPI) -> AsyncIterator[int]:
    config = uvicorn.Config(app, http=EdgeProtocol, lifespan="off", log_config=None)
    async with listening_server(config) as port:
        yield port


@pytest.fixture
def folder(app: FastAPI) -> Path:
    return Path(app.state.resources.settings.home) / "uploads"


async def test_what_a_cut_connection_brought_is_there(port: int, ada: User) -> None:
    upload, part = await begin(ada), len(TITANIC) // 3
    async with connected(port) as (_, writer):
        head = (
            f"PUT /api/v1/uploads/{upload} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(TITANIC)}\r\n"
            f"Authorization: Bearer {ada.tokens['access_token']}\r\n"
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        writer.write(head.encode() + TITANIC[:part])
        async with hang_guard():
            while (await ada.http.get(f"/uploads/{upload}")).json()["offset"] < part:
                await writer.drain()
    assert await send(ada, upload, part, TITANIC[part:]) == (200, len(TITANIC))
    assert (await ada.http.post(f"/uploads/{upload}/dataset")).json()["rows"] == 1313


async def test_an_upload_is_as_large_as_it_said_and_no_larger_than_permitted(ada: User) -> None:
    upload = await begin(ada, 10)
    sent = await ada.http.put(f"/uploads/{upload}", content=b"a,b\n1,2\n3,4\n")
    assert (sent.status_code, sent.json()["code"]) == (413, "upload_too_large")
    refused = await ada.http.post("/uploads", json={"filename": "x.csv", "size_bytes": 1 << 50})
    assert (refused.status_code, refused.json()["code"]) == (413, "upload_too_large")


async def test_pieces_sent_side_by_side_are_written_once(ada: User) -> None:
    upload = await begin(ada)
    sent = await asyncio.gather(*(send(ada, upload, 0, TITANIC) for _ in range(5)))
    assert sorted(status for status, _ in sent) == [200, 409, 409, 409, 409]
    made = await asyncio.gather(*(ada.http.post(f"/uploads/{upload}/dataset") for _ in range(4)))
    assert [each.status_code for each in made] == [201] * 4
    assert {(each.json()["id"], each.json()["rows"]) for each in made} == {(made[0].json()["id"], 1313)}


async def test_uploads_of_somebody_else_and_given_up_ones_are_not_there(
    ada: User, new_user: NewUser, folder: Path
) -> None:
    upload, bob = await begin(ada), await new_user()
    for method, path in (("GET", ""), ("PUT", ""), ("DELETE", ""), ("POST", "/dataset")):
        answered = await bob.http.request(method, f"/uploads/{upload}{path}")
        assert (answered.status_code, answered.json()["code"]) == (404, "upload_not_found")
    assert (await ada.http.delete(f"/uploads/{upload}")).status_code == 204
    assert [*folder.iterdir()] == []  # noqa: ASYNC240 - a folder of a test


async def test_a_piece_of_an_upload_that_is_given_up_meanwhile_is_refused(ada: User) -> None:
    upload = await begin(ada)

    async def pieces() -> AsyncIterator[bytes]:
        yield TITANIC[:100]
        async with hang_guard():
            while (await ada.http.get(f"/uploads/{upload}")).json()["offset"] < 100:
                pass
        assert (await ada.http.delete(f"/uploads/{upload}")).status_code == 204
        yield TITANIC[100:]

    sent = await ada.http.put(f"/uploads/{upload}", content=pieces())
    assert (sent.status_code, sent.json()["code"]) == (404, "upload_not_found")


async def test_an_upload_that_is_given_up_while_it_is_read_is_not_stored(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = await begin(ada)
    await send(ada, upload, 0, TITANIC)

    async def give_up(_: Datasets, row: DatasetRow) -> DatasetRow:
        assert (await ada.http.delete(f"/uploads/{upload}")).status_code == 204
        return row

    monkeypatch.setattr(Datasets, "_read_as_earlier", give_up)
    finished = await ada.http.post(f"/uploads/{upload}/dataset")
    assert (finished.status_code, finished.json()["code"]) == (404, "upload_not_found")
    assert (await ada.http.get("/datasets")).json()["items"] == []


async def test_an_upload_whose_client_leaves_while_it_is_read_is_cancelled(
    port: int, ada: User, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads, cancelled = asyncio.Event(), asyncio.Event()

    async def read(*_: object) -> None:
        reads.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    monkeypatch.setattr(Datasets, "add", read)
    async with connected(port) as (_, writer):
        head = (
            f"POST /api/v1/datasets HTTP/1.1\r\nHost: x\r\nContent-Length: {len(TITANIC)}\r\n"
            f"Authorization: Bearer {ada.tokens['access_token']}\r\n"
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        writer.write(head.encode() + TITANIC)
        async with hang_guard():
            await reads.wait()
    async with hang_guard():
        await cancelled.wait()
        # A request is its turn of the loop behind the end of the one before.
        while [*folder.iterdir()]:  # noqa: ASYNC240 - a folder of a test
            await ada.http.get("/uploads/00000000-0000-4000-8000-000000000000")


async def test_uploads_that_have_begun_count_towards_the_storage_of_their_user(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = []

    async def require(_: StorageQuota, __: object, more_bytes: int = 0) -> None:
        held.append(more_bytes)

    monkeypatch.setattr(StorageQuota, "require", require)
    await begin(ada, 700)
    await begin(ada, 80)
    assert held == [700, 780]


async def test_an_upload_that_no_longer_fits_the_quota_waits_until_something_is_deleted(
    app: FastAPI, ada: User
) -> None:
    upload = await begin(ada)
    await send(ada, upload, 0, TITANIC)
    # In one mebibyte, which is the least quota, beside an artifact that was made meanwhile.
    artifact = an_artifact(ada.id, None)
    artifact.size_bytes = (1 << 20) - len(TITANIC)
    await add(app, artifact)
    await app.state.resources.database.rows(
        "update users set quotas = '{\"stored_mb\": 1}' where id = $1", ada.id
    )
    app.state.auth_services.authenticator.invalidate_user(ada.id)
    app.state.auth_services.storage_quota.invalidate_user(ada.id)
    full = await ada.http.post(f"/uploads/{upload}/dataset")
    assert (full.status_code, full.json()["code"]) == (429, "storage_full")
    assert (await ada.http.delete(f"/artifacts/{artifact.id}")).status_code == 204
    assert (await ada.http.post(f"/uploads/{upload}/dataset")).status_code == 201


async def test_a_user_has_a_few_unfinished_uploads(ada: User) -> None:
    body = {"filename": "x.csv", "size_bytes": 9}
    codes = [(await ada.http.post("/uploads", json=body)).status_code for _ in range(21)]
    assert codes == [201] * 20 + [429]


async def test_what_is_no_table_is_refused_and_gone(ada: User) -> None:
    for content, code in ((b"", "empty_file"), (b"a,b,c\n", "no_rows")):
        upload = await begin(ada, len(content))
        await send(ada, upload, 0, content)
        refused = await ada.http.post(f"/uploads/{upload}/dataset")
        assert (refused.status_code, refused.json()["code"]) == (422, code)
        assert (await ada.http.get(f"/uploads/{upload}")).status_code == 404
