"""Lists are read on from where a page ended."""

import json
from typing import Any

import pytest
from fastapi import FastAPI

from app.sessions.queries import SESSION_LISTS, SessionSort

from .conftest import User
from .test_admin import admin  # noqa: F401 - a fixture
from .test_sessions import SESSIONS, create, sql
from .test_workflow_overviews import save

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


async def numbered_pages(user: User, path: str, limit: int, **query: str) -> list[list[dict[str, Any]]]:
    """Read a list by the numbers of its items until a page is not full."""
    found: list[list[dict[str, Any]]] = []
    while True:
        page = (
            await user.http.get(path, params={**query, "limit": limit, "offset": limit * len(found)})
        ).json()
        found.append(page if isinstance(page, list) else page["items"])
        if len(found[-1]) < limit:
            return found


def check_pages(found: list[list[dict[str, Any]]], times: bool) -> None:
    """Check that all of MANY rows came, once each and newest first."""
    assert [len(page) for page in found] == [3, 3, 1]
    rows = [item for page in found for item in page]
    assert len({item["id"] for item in rows}) == MANY
    if times:
        assert [item["created_at"] for item in rows] == sorted(
            (item["created_at"] for item in rows), reverse=True
        )


@pytest.mark.parametrize("step", ["1 minute", "0"])
async def test_runs_of_a_workflow_come_once_each_newest_first(app: FastAPI, ada: User, step: str) -> None:
    workflow = await save(ada, "often")
    await sql(
        app,
        "insert into sessions (id, owner_id, graph, class, goal, preferences, dataset_ids, seed, status,"
        " ended_at, created_at) select gen_random_uuid(), $1, 'workflow', 'run', '{}',"
        " jsonb_build_object('workflow', jsonb_build_object('id', $3::text, 'version', n, 'node', '')), '{}',"
        " 1, 'completed', now(), now() + n * $4::text::interval from generate_series(1, $2::int) n",
        ada.id,
        MANY,
        workflow,
        step,
    )
    other = await save(ada, "other")
    found = await numbered_pages(ada, f"/workflows/{workflow}/runs", 3)
    check_pages(found, times=True)
    if step != "0":
        assert [run["version"] for page in found for run in page] == list(range(MANY, 0, -1))
    assert (await ada.http.get(f"/workflows/{other}/runs")).json() == []
    past = await ada.http.get(f"/workflows/{workflow}/runs", params={"offset": 99})
    assert (past.status_code, past.json()) == (200, [])


@pytest.mark.parametrize("step", ["1 minute", "0"])
async def test_proposals_come_once_each_newest_first(app: FastAPI, ada: User, step: str) -> None:
    workflow = await save(ada, "changed")
    await sql(
        app,
        "insert into workflow_proposals (id, workflow_id, owner_id, version, message, summary, operations,"
        " document, created_at) select gen_random_uuid(), $3::uuid, $1, 1, 'change ' || n, '', '[]', $5::json,"
        " now() + n * $4::text::interval from generate_series(1, $2::int) n",
        ada.id,
        MANY,
        workflow,
        step,
        json.dumps({"nodes": [], "edges": []}),
    )
    found = await numbered_pages(ada, f"/workflows/{workflow}/proposals", 3)
    check_pages(found, times=True)
    if step != "0":
        messages = [proposal["message"] for page in found for proposal in page]
        assert messages == [f"change {n}" for n in range(MANY, 0, -1)]


async def test_actions_on_an_account_come_once_each_newest_first(
    app: FastAPI,
    admin: User,  # noqa: F811
    ada: User,
) -> None:
    # Rows of the audit stay: those of the registration are the oldest here.
    former = (await admin.http.get("/admin/audit", params={"user_id": str(ada.id)})).json()["total"]
    await sql(
        app,
        "insert into audit (owner_id, actor, action, detail) select $1, 'user', 'signed_in',"
        " jsonb_build_object('place', n) from generate_series(1, $2::int) n",
        ada.id,
        MANY - former,
    )
    found = await numbered_pages(admin, "/admin/audit", 3, user_id=str(ada.id))
    check_pages(found, times=False)
    places = [action["detail"].get("place") for page in found for action in page]
    assert places == [*range(MANY - former, 0, -1), *[None] * former]
    for offset in (0, 6, 99):
        page = await admin.http.get(
            "/admin/audit", params={"user_id": str(ada.id), "offset": offset, "limit": 3}
        )
        assert page.json()["total"] == MANY


async def test_actions_of_a_session_come_once_each(app: FastAPI, ada: User) -> None:
    session = await create(ada)
    await sql(
        app,
        "insert into audit (owner_id, session_id, actor, action, detail) select $1, $3::uuid, 'user', 'looked',"
        " jsonb_build_object('place', n) from generate_series(1, $2::int) n",
        ada.id,
        MANY - 1,
        session,
    )
    found = await numbered_pages(ada, f"{SESSIONS}/{session}/audit", 3)
    rows = [row for page in found for row in page]
    assert [len(page) for page in found] == [3, 3, 1]
    places = [row["detail"]["place"] for row in rows if row["action"] == "looked"]
    assert sorted(places) == list(range(1, MANY))


@pytest.mark.parametrize("sort", SESSION_LISTS)
async def test_a_page_of_sessions_reads_the_results_of_its_rows_only(
    app: FastAPI, ada: User, sort: SessionSort
) -> None:
    """In the plan for any parameters too, which Postgres keeps for a connection after a few requests."""
    session, many, rows = await create(ada), 200, 5
    # As long as a result that is stored beside its row, and cannot be compressed.
    result = "select string_agg(md5(i::text || n::text), '') from generate_series(1, 300) i"
    await sql(
        app,
        "insert into sessions (id, owner_id, goal, preferences, dataset_ids, seed, status, ended_at, result)"
        " select gen_random_uuid(), owner_id, goal, preferences, dataset_ids, seed, 'completed', now(),"
        f" jsonb_build_object('headline', 'Done', 'rest', ({result}))"
        " from sessions cross join generate_series(1, $2::int) n where id = $1",
        session,
        many,
    )
    types = "uuid, text, text, boolean, text[], timestamptz, uuid, int, int, uuid"
    values = f"'{ada.id}', null, 'study', false, null, null, null, {rows}, 0, null"
    async with app.state.resources.database.dedicated_connection() as db:
        await db.execute("analyze sessions; set plan_cache_mode = force_generic_plan")
        await db.execute(f"prepare page ({types}) as {SESSION_LISTS[sort]}")
        plan = json.loads(
            await db.fetchval(f"explain (analyze, buffers, format json) execute page ({values})")
        )[0]["Plan"]
    assert plan["Actual Rows"] == rows
    # A result alone takes three blocks, two of an index.
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < many
