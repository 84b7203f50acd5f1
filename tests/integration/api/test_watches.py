"""Watches of `GET /events` as its address states them."""

from .conftest import User


async def test_a_watch_of_what_is_no_id_is_refused(ada: User) -> None:
    for session in ("-" * 36, "0" * 36, "0f" * 18):
        refused = await ada.http.get("/events", params={"watch": f"a:{session}:1"})
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
