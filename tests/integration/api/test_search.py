"""Search in one's own things, what one has used, and the figures that admins see."""

from fastapi import FastAPI

from .conftest import User
from .test_admin import admin
from .test_deletion import a_session, add
from .test_ownership import an_artifact
from .test_sessions import create

__all__ = ["admin"]


async def test_search_finds_own_goals_columns_and_names_and_nothing_of_others(ada: User, eve: User) -> None:
    session = await create(ada)
    table = b"percent%,place\n1,a\n2,b\n"
    made = await ada.http.post("/datasets", params={"filename": "odd_name.csv"}, content=table)
    dataset = made.json()["id"]
    goal = (await ada.http.get(f"/lab/agent/sessions/{session}")).json()["goal"]

    async def found(user: User, words: str) -> set[tuple[str, str]]:
        answer = await user.http.get("/search", params={"q": words})
        return {(hit["kind"], hit["id"]) for hit in answer.json()["items"]}

    assert ("session", session) in await found(ada, goal[2:12].upper())
    assert await found(ada, "ERCENT%") == {("dataset", dataset)}
    assert await found(ada, "odd_name") == {("dataset", dataset)}
    assert await found(ada, "place ODD") == {("dataset", dataset)}, "each word anywhere in it, in any order"
    assert await found(ada, "place odd nowhere") == set()
    answer = await ada.http.get("/search", params={"q": "place"})
    assert answer.json()["items"][0]["detail"] == "odd_name.csv, column: place"
    assert await found(ada, "odd%name") == set(), "a sign of patterns is a letter like any other"
    assert await found(eve, "odd_name") == set()
    refused = await ada.http.get("/search", params={"q": ""})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")


async def test_search_finds_the_model_that_a_session_chose(app: FastAPI, ada: User, eve: User) -> None:
    session = a_session(ada.id)
    await add(app, session)
    fit = {"estimator": "Ridge", "problem": {"target": "harvest"}}
    chosen, other = (
        an_artifact(ada.id, session.id, name=name, meta={"fit": fit}) for name in ("Ridge-t3", "Ridge-t31")
    )
    await add(app, chosen, other)
    async with app.state.resources.open_uow() as uow:
        row = await uow.db.get_one(type(session), session.id)
        row.result = {"model": str(chosen.id)}
    for words in ("ridge-T3", "harvest"):
        items = (await ada.http.get("/search", params={"q": words})).json()["items"]
        hits = [(hit["kind"], hit["id"], hit["detail"]) for hit in items]
        assert hits == [("model", str(chosen.id), "Ridge")]
        assert (await eve.http.get("/search", params={"q": words})).json()["items"] == []


async def test_usage_counts_what_is_stored_and_what_is_open(ada: User) -> None:
    before = (await ada.http.get("/auth/me/usage")).json()
    assert (before["stored_bytes"], before["open_sessions"]) == (0, 0)
    await create(ada)
    assert (await ada.http.get("/auth/me/usage")).json()["open_sessions"] == 1


async def test_admins_see_the_figures_of_the_service_and_nobody_else(
    app: FastAPI, admin: User, ada: User
) -> None:
    figures = {figure["name"]: figure for figure in (await admin.http.get("/admin/service")).json()}
    assert {"part_ready", "queue_due", "workers", "sessions", "database_size_bytes"} <= set(figures)
    assert figures["part_ready"]["values"]["postgres"] == 1
    assert (await ada.http.get("/admin/service")).status_code == 403
