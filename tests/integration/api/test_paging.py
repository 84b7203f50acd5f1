"""Lists are read on from where a page ended."""

import json
from typing import Any

import pytest
from fastapi import FastAPI

from .conftest import User
from .test_sessions import SESSIONS, create, sql

MANY = 7
FIT = {
    "estimator": "Ridge",
    "metric": "rmse",
    "greater_is_better": False,
    "score": 1.0,
    "std": None,
    "problem": {"kind": "regression", "target": "y"},
}


async def pages(user: User, path: str, limit: int) -> list[list[dict[str, Any]]]:
    found, after = [], None
    while True:
        asked = {"limit": limit} | ({"after": after} if after else {})
        page = (await user.http.get(path, params=asked)).json()
        found.append(page["items"])
        after = page["next_cursor"]
        if after is None:
            return found


async def fill_datasets(app: FastAPI, ada: User) -> None:
    await sql(
        app,
        "insert into datasets (id, owner_id, name, filename, source_digest, source_size_bytes, digest,"
        " size_bytes, rows, columns, format, profile) select gen_random_uuid(), $1, 'd', 'd.csv', '', 1, '',"
        " 1, 1, '[]', '{}', '{}' from generate_series(1, $2::int)",
        ada.id,
        MANY,
    )


async def fill_models(app: FastAPI, ada: User) -> None:
    session = await create(ada)
    await sql(
        app,
        "insert into artifacts (id, owner_id, session_id, seq, kind, name, media_type, digest, size_bytes,"
        " meta, created_at) select gen_random_uuid(), $1, $3::uuid, n, 'model', 'm', 'a/b', '', 1,"
        " $4::jsonb, now() from generate_series(1, $2::int) n",
        ada.id,
        MANY,
        session,
        json.dumps({"fit": FIT}),
    )


@pytest.mark.parametrize(
    ("path", "fill"), [("/datasets", fill_datasets), ("/models", fill_models), ("/artifacts", fill_models)]
)
async def test_rows_of_one_moment_come_once_each(app: FastAPI, ada: User, path: str, fill: Any) -> None:
    await fill(app, ada)
    found = await pages(ada, path, 3)
    ids = [item["id"] for page in found for item in page]
    assert [len(page) for page in found] == [3, 3, 1]
    assert ids == sorted(set(ids))


async def test_what_is_made_while_a_list_is_read_moves_nothing(app: FastAPI, ada: User) -> None:
    made = [await create(ada) for _ in range(4)]
    first = (await ada.http.get(SESSIONS, params={"limit": 2})).json()
    await create(ada)
    rest = (await ada.http.get(SESSIONS, params={"limit": 2, "after": first["next_cursor"]})).json()
    assert [item["id"] for item in first["items"] + rest["items"]] == made[::-1]
    assert (first["total"], rest["total"], rest["next_cursor"]) == (4, 4, None)


async def test_a_cursor_finds_nothing_of_somebody_else(ada: User, eve: User) -> None:
    for _ in range(3):
        await create(ada)
    after = (await ada.http.get(SESSIONS, params={"limit": 1})).json()["next_cursor"]
    assert (await eve.http.get(SESSIONS, params={"after": after})).json()["items"] == []


@pytest.mark.parametrize("after", ["x", "MjAyNi0wMS0wMQ==", "\u00e9", "bm90IGEgY3Vyc29y"])
async def test_what_is_no_cursor_is_refused(ada: User, after: str) -> None:
    refused = await ada.http.get(SESSIONS, params={"after": after})
    assert (refused.status_code, refused.json()["code"]) == (422, "bad_cursor")
