"""Artifacts over the real API: listing, ranges, conditions, and what is not served yet."""

from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID, uuid4

import pytest
from fastapi import FastAPI

from app.db.tables import ArtifactRow, SessionRow

from .conftest import User

PAGE = b"<script>alert(1)</script><h1>Report</h1>" + bytes(range(256)) * 8192
DIGEST = sha256(PAGE).hexdigest()


@dataclass(frozen=True)
class Made:
    session: UUID
    report: UUID
    holdout: UUID


@pytest.fixture
async def made(app: FastAPI, ada: User) -> Made:
    resources = app.state.resources
    blob = await resources.blobs.put_bytes(PAGE)
    made = Made(uuid4(), uuid4(), uuid4())
    session = SessionRow(
        id=made.session, owner_id=ada.id, goal="g", preferences={}, dataset_ids=[], seed=1, graph_version=1
    )
    rows = [
        ArtifactRow(
            id=id_,
            owner_id=ada.id,
            session_id=made.session,
            seq=1,
            kind=kind,
            name=name,
            media_type="text/html",
            digest=blob.digest,
            size_bytes=blob.size_bytes,
        )
        for id_, kind, name in (
            (made.report, "report", 'Bericht "für" ../Ada\r\n.html'),
            (made.holdout, "holdout", "holdout"),
        )
    ]
    async with resources.open_uow() as uow:
        uow.db.add(session)
        await uow.db.flush()
        uow.db.add_all(rows)
    return made


async def test_bytes_are_served_whole_with_a_digest_and_a_page_that_can_run_nothing(
    ada: User, made: Made
) -> None:
    answer = await ada.http.get(f"/artifacts/{made.report}")
    assert (answer.status_code, answer.content) == (200, PAGE)
    assert answer.headers["etag"] == f'"{DIGEST}"'
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert answer.headers["x-content-type-options"] == "nosniff"
    disposition = answer.headers["content-disposition"]
    assert disposition.startswith('inline; filename="Bericht _f_r_ .._Ada__.html"; ')
    assert "filename*=UTF-8''Bericht%20%22f%C3%BCr%22%20..%2FAda%0D%0A.html" in disposition
    saved = await ada.http.get(f"/artifacts/{made.report}?download=true")
    assert saved.headers["content-disposition"].startswith("attachment;")
    head = await ada.http.head(f"/artifacts/{made.report}")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(PAGE)))


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        ("bytes=1048570-1048590", 1048570, 1048591),
        ("bytes=2000000-", 2000000, len(PAGE)),
        ("bytes=-5", len(PAGE) - 5, len(PAGE)),
        ("bytes=0-99999999999", 0, len(PAGE)),
    ],
)
async def test_a_range_is_served_alone(ada: User, made: Made, asked: str, start: int, end: int) -> None:
    answer = await ada.http.get(f"/artifacts/{made.report}", headers={"Range": asked})
    assert (answer.status_code, answer.content) == (206, PAGE[start:end])
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/{len(PAGE)}"
    assert answer.headers["content-length"] == str(end - start)


async def test_ranges_outside_are_416_and_unknown_ones_are_ignored(ada: User, made: Made) -> None:
    path = f"/artifacts/{made.report}"
    for outside in (f"bytes={len(PAGE)}-", "bytes=-0", "bytes=9999999999-9999999999"):
        answer = await ada.http.get(path, headers={"Range": outside})
        assert answer.status_code == 416
        assert answer.headers["content-range"] == f"bytes */{len(PAGE)}"
    for ignored in ("bytes=5-2", "bytes=0-1,4-5", "rows=1-2", "bytes=-", "nonsense"):
        assert (await ada.http.get(path, headers={"Range": ignored})).status_code == 200


async def test_conditions_go_by_the_digest(ada: User, made: Made) -> None:
    path = f"/artifacts/{made.report}"
    same, other = f'"{DIGEST}"', '"other"'
    assert (await ada.http.get(path, headers={"If-None-Match": f"{other}, W/{same}"})).status_code == 304
    assert (await ada.http.get(path, headers={"If-None-Match": other})).status_code == 200
    ranged = {"Range": "bytes=0-1"}
    assert (await ada.http.get(path, headers=ranged | {"If-Range": same})).status_code == 206
    assert (await ada.http.get(path, headers=ranged | {"If-Range": other})).status_code == 200


async def test_the_holdout_does_not_exist_before_its_session_ended(
    app: FastAPI, ada: User, eve: User, made: Made
) -> None:
    for path in (f"/artifacts/{made.holdout}", f"/artifacts/{made.holdout}/info"):
        assert (await ada.http.get(path)).status_code == 404
    listed = (await ada.http.get(f"/artifacts?session_id={made.session}")).json()
    assert ([item["kind"] for item in listed["items"]], listed["total"]) == (["report"], 1)
    await app.state.resources.database.rows("UPDATE sessions SET ended_at = now()")
    assert (await ada.http.get(f"/artifacts/{made.holdout}")).status_code == 200
    assert (await ada.http.get("/artifacts?kind=holdout")).json()["total"] == 1
    for path in (f"/artifacts/{made.report}", f"/artifacts/{made.holdout}/info"):
        assert (await eve.http.get(path)).status_code == 404
    assert (await eve.http.get("/artifacts")).json()["total"] == 0
