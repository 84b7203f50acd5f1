"""Uploading a table, looking at it, deleting it, over the real API."""

from pathlib import Path
from uuid import uuid4

import asyncpg
import bokeh_sampledata
import pytest

from app.settings import Settings

from .conftest import NewUser, User

TITANIC = Path(bokeh_sampledata.__file__).parent / "_data" / "titanic_all.csv"
CSV = b"city,people\nUlm,126\nBonn,330\n"


async def upload(user: User, content: bytes, filename: str = "towns.csv", **headers: str):
    return await user.http.post("/datasets", files={"file": (filename, content)}, headers=headers)


async def test_an_upload_is_converted_profiled_and_listed(ada: User) -> None:
    answer = await upload(ada, TITANIC.read_bytes(), "titanic_all.csv")
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert (made["name"], made["rows"]) == ("titanic_all", 1313)
    assert [column["name"] for column in made["columns"]] == ["name", "class", "age", "sex", "survived"]
    assert (await ada.http.get("/datasets")).json()["items"] == [made]
    assert (await ada.http.get(f"/datasets/{made['id']}")).json() == made
    schema = (await ada.http.get(f"/datasets/{made['id']}/schema")).json()
    assert schema["columns"][4]["hint"] == "boolean"
    preview = (await ada.http.get(f"/datasets/{made['id']}/preview?limit=2&offset=1")).json()
    assert preview["rows"][0][0] == "Allison, Miss Helen Loraine"
    assert (len(preview["rows"]), preview["total"]) == (2, 1313)


@pytest.mark.parametrize("parameters", ["filter_column=", "filter_column=a%00b", "sort=%00", "sort="])
async def test_a_preview_by_a_column_that_cannot_be_is_refused(parameters: str, ada: User) -> None:
    made = (await upload(ada, CSV)).json()
    answer = await ada.http.get(f"/datasets/{made['id']}/preview?{parameters}")
    assert answer.status_code == 422, answer.text


async def test_a_raw_body_is_an_upload_too(ada: User) -> None:
    answer = await ada.http.post("/datasets?filename=towns.csv&name=My towns", content=CSV)
    assert (answer.status_code, answer.json()["name"]) == (201, "My towns")


async def test_an_idempotency_key_makes_one_dataset(ada: User) -> None:
    first = await upload(ada, CSV, **{"Idempotency-Key": "k1"})
    again = await upload(ada, CSV, **{"Idempotency-Key": "k1"})
    assert first.json()["id"] == again.json()["id"]
    other = await upload(ada, CSV + b"Kiel,247\n", **{"Idempotency-Key": "k1"})
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")


async def test_a_dataset_of_somebody_else_does_not_exist(ada: User, new_user: NewUser) -> None:
    made = (await upload(ada, CSV)).json()["id"]
    bob = await new_user()
    for path in (f"/datasets/{made}", f"/datasets/{made}/schema", f"/datasets/{made}/preview"):
        assert (await bob.http.get(path)).status_code == 404
    assert (await bob.http.delete(f"/datasets/{made}")).status_code == 404
    assert (await bob.http.get("/datasets")).json()["total"] == 0


async def test_a_deleted_dataset_is_gone(ada: User) -> None:
    made = (await upload(ada, CSV)).json()["id"]
    assert (await ada.http.delete(f"/datasets/{made}")).status_code == 204
    assert (await ada.http.get(f"/datasets/{made}")).status_code == 404
    assert (await ada.http.delete(f"/datasets/{uuid4()}")).status_code == 404


BAD = {
    b"": "empty_file",
    b"\x00\x01\x02\x03\x05" * 400: "not_a_table",
    b"a,b,c\n": "no_rows",
    b"a,b\n1,2\n3,4,5,6\n": "ragged_rows",
    b"\x1f\x8b\x08\x00junk": "damaged_file",
    b"PAR1junkjunkPAR1": "damaged_file",
}


async def test_a_bad_file_is_refused_and_leaves_nothing(ada: User, settings: Settings) -> None:
    for content, code in BAD.items():
        answer = await upload(ada, content, "bad.csv")
        assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
    assert (await ada.http.get("/datasets")).json()["total"] == 0
    assert not list((settings.home / "uploads").iterdir())
    assert not [path for path in (settings.home / "blobs").rglob("*") if path.is_file()]
    database = await asyncpg.connect(settings.database_url)
    assert await database.fetchval("SELECT count(*) FROM blobs") == 0
    await database.close()


async def test_a_form_without_a_file_is_refused(ada: User) -> None:
    answer = await ada.http.post("/datasets", files={"other": ("a.csv", CSV)})
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_form")
    answer = await ada.http.post(
        "/datasets", content=b"--x\r\n", headers={"Content-Type": "multipart/form-data; boundary=x"}
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_form")


async def test_the_shipped_table_is_added_once(ada: User) -> None:
    made = await ada.http.post("/datasets/example")
    assert (made.status_code, made.json()["name"], made.json()["rows"]) == (201, "titanic", 1313)
    path = made.headers["Location"].removeprefix("/api/v1")
    assert (await ada.http.get(path)).json()["id"] == made.json()["id"]
    assert (await ada.http.post("/datasets/example")).json()["id"] == made.json()["id"]
    assert (await ada.http.get("/datasets")).json()["total"] == 1
