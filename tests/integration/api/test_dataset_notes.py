"""What an owner writes about a dataset."""

import pytest
from fastapi import FastAPI

from app.datasets.schemas import MAX_NOTE_CHARS
from app.db.pool import Database

from .conftest import User
from .test_datasets import CSV, upload

NOTE = "Export of 3 May.\n\n<b>Kim</b> knows the fares of 0: 50 % are gifts. \u00fc \u26f5"


async def test_a_note_is_kept_as_written_and_removed(app: FastAPI, ada: User) -> None:
    made = (await upload(ada, CSV)).json()
    assert made["note"] == ""
    path = f"/datasets/{made['id']}"
    written = await ada.http.patch(path, json={"note": f"  {NOTE}\n"})
    assert (written.status_code, written.json()) == (200, made | {"note": NOTE})
    assert (await ada.http.get(path)).json() == written.json()
    assert [one["note"] for one in (await ada.http.get("/datasets")).json()["items"]] == [NOTE]
    hits = (await ada.http.get("/search", params={"q": "50 % are gifts"})).json()["items"]
    assert [hit["id"] for hit in hits] == [made["id"]]
    await ada.http.patch(path, json={"note": NOTE})
    late = await ada.http.patch(path, json={"note": "Mine", "former": ""})
    assert (late.status_code, late.json()["code"]) == (409, "note_changed")
    again = await ada.http.patch(path, json={"note": NOTE, "former": ""})
    assert again.status_code == 200, "the same words twice are no conflict"
    assert (await ada.http.patch(path, json={"note": " \n ", "former": NOTE})).json()["note"] == ""
    db: Database = app.state.resources.database
    trail = await db.rows(
        "select owner_id, detail ->> 'dataset' as dataset, (detail ->> 'chars')::int as chars from audit"
        " where action = 'dataset_note_changed' order by id"
    )
    assert [tuple(row.values()) for row in trail] == [
        (ada.id, made["id"], len(NOTE)),
        (ada.id, made["id"], 0),
    ], "the same note again is no change"


async def test_a_note_leaves_the_table_and_its_reading_alone(ada: User) -> None:
    table = "day,n\n" + "".join(f"0{day}/02/2020,{day}\n" for day in (3, 1, 4, 2, 8))
    path = f"/datasets/{(await upload(ada, table.encode())).json()['id']}"
    await ada.http.patch(path, json={"note": NOTE})
    corrected = await ada.http.patch(f"{path}/schema", json={"columns": {"day": "day_first"}})
    assert corrected.status_code == 200, corrected.text
    seen = (await ada.http.get(path)).json()
    assert (seen["note"], seen["columns"][0]["type"]) == (NOTE, "datetime")
    await ada.http.patch(path, json={"note": ""})
    assert (await ada.http.get(path)).json() == seen | {"note": ""}


NO_NOTES = [
    ('{"note": "%s"}' % ("x" * (MAX_NOTE_CHARS + 1)), "note"),
    ('{"note": "a\\u0000b"}', "note"),
    ('{"note": "\\ud800"}', "note"),
    ('{"note": null}', "note"),
    ("{}", "note"),
    ('{"note": "", "name": "other"}', "name"),
]
"""A body, and the part of it that is refused."""


async def test_what_is_no_note_is_refused_by_name_and_changes_nothing(
    ada: User, subtests: pytest.Subtests
) -> None:
    path = f"/datasets/{(await upload(ada, CSV)).json()['id']}"
    await ada.http.patch(path, json={"note": NOTE})
    for body, place in NO_NOTES:
        with subtests.test(body[:40]):
            refused = await ada.http.patch(path, content=body, headers={"content-type": "application/json"})
            assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request"), refused.text
            assert place in refused.json()["errors"][0]["location"]
            assert (await ada.http.get(path)).json()["note"] == NOTE


async def test_the_longest_note_is_taken(ada: User) -> None:
    path = f"/datasets/{(await upload(ada, CSV)).json()['id']}"
    longest = "\u26f5" * MAX_NOTE_CHARS
    assert (await ada.http.patch(path, json={"note": longest})).json()["note"] == longest


async def test_a_note_goes_with_its_dataset_and_stays_in_no_trail(app: FastAPI, ada: User) -> None:
    path = f"/datasets/{(await upload(ada, CSV)).json()['id']}"
    await ada.http.patch(path, json={"note": NOTE})
    assert (await ada.http.delete(path)).status_code == 204
    assert (await ada.http.patch(path, json={"note": NOTE})).status_code == 404
    db: Database = app.state.resources.database
    assert await db.rows("select from datasets") == []
    assert await db.rows("select from audit where detail::text like '%fares%'") == []
