"""Names, archive, search, order and counts of sessions."""

from typing import Any

from fastapi import FastAPI

from app.sessions.queries import SessionReader

from .conftest import User
from .test_sessions import SESSIONS, create, sql


async def names(user: User, **query: Any) -> list[str]:
    answer = await user.http.get(SESSIONS, params=query)
    assert answer.status_code == 200, answer.text
    return [session["name"] for session in answer.json()["items"]]


async def change(user: User, session: str, **fields: Any) -> dict[str, Any]:
    answer = await user.http.patch(f"{SESSIONS}/{session}", json=fields)
    assert answer.status_code == 200, answer.text
    view: dict[str, Any] = answer.json()
    return view


async def test_a_session_is_called_by_its_goal_until_it_has_a_name(ada: User, eve: User) -> None:
    session = await create(ada)
    goal = (await ada.http.get(f"{SESSIONS}/{session}")).json()["goal"]
    assert await names(ada) == [goal]
    view = await change(ada, session, name="  First attempt ")
    assert (view["name"], view["goal"]) == ("First attempt", goal)
    assert await names(ada) == ["First attempt"]
    hits = (await ada.http.get("/search", params={"q": "attempt first"})).json()["items"]
    assert [hit["text"] for hit in hits] == ["First attempt"]
    assert (await change(ada, session, archived=True))["name"] == "First attempt"
    assert (await change(ada, session, name=""))["name"] == goal
    refused = await eve.http.patch(f"{SESSIONS}/{session}", json={"name": "mine"})
    assert (refused.status_code, refused.json()["code"]) == (404, "session_not_found")


async def test_an_archived_session_is_in_a_list_of_its_own(ada: User) -> None:
    first, second = await create(ada), await create(ada)
    await change(ada, first, name="kept")
    await change(ada, second, name="put away", archived=True)
    assert await names(ada) == ["kept"]
    assert await names(ada, archived=True) == ["put away"]
    counts = (await ada.http.get(f"{SESSIONS}/counts")).json()
    assert counts == {"by_status": {"queued": 1}, "total": 1}
    assert (await change(ada, second, archived=False))["archived_at"] is None
    assert await names(ada) == ["put away", "kept"]


async def test_a_list_is_searched_in_names_and_goals_and_ordered(app: FastAPI, ada: User) -> None:
    sessions = [await create(ada) for _ in range(3)]
    for session, name in zip(sessions, ("Churn 50%", "Churn 500", "Fares"), strict=True):
        await change(ada, session, name=name)
    await sql(app, "update sessions set status = 'failed', ended_at = now() where id = $1", sessions[0])
    assert await names(ada, q="50% churn") == ["Churn 50%"]
    goal = (await ada.http.get(f"{SESSIONS}/{sessions[2]}")).json()["goal"]
    assert await names(ada, q=goal.split()[0].upper()) == ["Fares", "Churn 500", "Churn 50%"]
    assert await names(ada, sort="oldest") == ["Churn 50%", "Churn 500", "Fares"]
    counts = (await ada.http.get(f"{SESSIONS}/counts", params={"q": "churn"})).json()
    assert counts == {"by_status": {"failed": 1, "queued": 1}, "total": 2}
    read, after = [], None
    while True:
        query = {"sort": "oldest", "limit": 1, **({"after": after} if after else {})}
        page = (await ada.http.get(SESSIONS, params=query)).json()
        read += [session["name"] for session in page["items"]]
        after = page["next_cursor"]
        if not after:
            break
    assert read == ["Churn 50%", "Churn 500", "Fares"]


async def test_a_new_name_is_news_of_the_lists(app: FastAPI, ada: User) -> None:
    session = await create(ada)
    reader = SessionReader(app.state.resources.database, ada.id)
    before = await reader.lists_position()
    await change(ada, session, name="another")
    assert await reader.lists_position() != before
