"""Files of conversations: by the assistant's tools, programs and the API."""

from typing import Any
from uuid import uuid4

import pytest

from .conftest import User
from .test_threads import ask

pytestmark = pytest.mark.usefixtures("worker")


async def answer(user: User, turn: dict[str, Any], reply: Any) -> dict[str, Any]:
    """Answer the question of a turn and wait for its end."""
    body = {"question": turn["question"]["key"], "answer": reply}
    replied = await user.http.post(f"/lab/agent/sessions/{turn['turn_id']}/respond", json=body)
    assert replied.status_code == 202, replied.text
    stream = await user.http.get(f"/turns/{turn['turn_id']}/events")
    assert "event: done" in stream.text
    ended: dict[str, Any] = (await user.http.get(f"/turns/{turn['turn_id']}")).json()
    return ended


async def test_a_file_is_written_edited_after_approval_and_read_by_programs(ada: User) -> None:
    first = await ask(ada, "write plans/notes.md: sales rose\ncosts rose")
    assert first["text"] == "Wrote plans/notes.md, 21 bytes.", first
    thread = {"thread_id": first["thread_id"]}
    asked = await ask(ada, "replace 'sales rose' by 'sales fell' in plans/notes.md", **thread)
    assert "-sales rose\n+sales fell" in asked["question"]["about"]["preview"]
    (listed,) = (await ada.http.get("/turns?status=awaiting_user")).json()
    assert (listed["turn_id"], listed["thread_id"]) == (asked["turn_id"], asked["thread_id"])
    assert listed["question"] == "The assistant wants to edit plans/notes.md."
    refused = await answer(ada, asked, "reject")
    assert (await ada.http.get("/turns?status=awaiting_user")).json() == []
    assert refused["text"] == "I did not edit plans/notes.md, because you did not approve it."
    assert (await ask(ada, "read plans/notes.md", **thread))["text"] == "sales rose\ncosts rose"
    again = await ask(ada, "replace all 'rose' with 'fell' in plans/notes.md", **thread)
    assert (await answer(ada, again, "approve"))["text"] == "Changed plans/notes.md in 2 places."
    program = "PYTHON: open('out.txt', 'w').write('by a program')\nopen('.hidden', 'w').write('x')"
    await ask(ada, program, **thread)
    turn = await ask(ada, "PYTHON: open('out.txt').read()", **thread)
    assert turn["text"] == "by a program", turn
    listed = await ask(ada, "which files are there?", **thread)
    assert listed["text"] == "out.txt (12 bytes)\nplans/notes.md (21 bytes)"
    workspace = (await ada.http.get(f"/worldlines/{first['worldline_id']}/workspace")).json()
    artifact = workspace["files"][1]["artifact"]
    assert (await ada.http.get(f"/artifacts/{artifact}")).text == "sales fell\ncosts fell"
    branch = await ada.http.post("/worldlines", json={**thread, "from_turn": first["turn_id"]})
    read = await ask(ada, "read plans/notes.md", worldline_id=branch.json()["id"])
    assert read["text"] == "sales rose\ncosts rose"


async def test_what_a_change_would_change_is_shown_without_making_it(ada: User, eve: User) -> None:
    turn = await ask(ada, "write a.txt: one\ntwo")
    place = {"worldline_id": turn["worldline_id"], "name": "a.txt"}
    shown = (await ada.http.post("/generate-diff", json={**place, "old": "two", "new": "three"})).json()
    assert (shown["applies"], shown["added"], shown["removed"]) == (True, 1, 1)
    assert shown["diff"].splitlines()[-2:] == ["-two", "+three"]
    whole = (await ada.http.post("/generate-diff", json={**place, "name": "b/new.txt", "content": "x"})).json()
    assert (whole["applies"], whole["diff"].splitlines()[-1]) == (True, "+x")
    for wrong, reason in (
        ({"old": "four", "new": ""}, "does not contain"),
        ({"name": "../a.txt", "content": "x"}, "cannot be a file's path"),
        ({"name": "c.txt", "old": "x", "new": "y"}, "There is no file"),
    ):
        refused = (await ada.http.post("/generate-diff", json={**place, **wrong})).json()
        assert refused["applies"] is False
        assert reason in refused["reason"]
    assert (await ada.http.post("/generate-diff", json={**place, "old": "x"})).status_code == 422
    foreign = await eve.http.post("/generate-diff", json={**place, "content": "x"})
    unknown = {**place, "worldline_id": str(uuid4()), "content": "x"}
    assert foreign.status_code == (await ada.http.post("/generate-diff", json=unknown)).status_code == 404
    assert (await ask(ada, "read a.txt", thread_id=turn["thread_id"]))["text"] == "one\ntwo"
    refused = await ask(ada, "write A.txt: other", thread_id=turn["thread_id"])
    assert refused["text"] == "The file 'a.txt' exists. Change it by edit_file, or choose another name."


async def test_an_answer_is_saved_as_a_file_that_its_user_downloads(ada: User) -> None:
    first = await ask(ada, "SQL: select 7 as seats, 'Bern' as city")
    thread = {"thread_id": first["thread_id"]}
    saved = await ask(ada, "save that as csv", **thread)
    assert saved["text"].startswith("Saved 1 row as seats_city.csv."), saved
    workspace = (await ada.http.get(f"/worldlines/{first['worldline_id']}/workspace")).json()
    assert [file["name"] for file in workspace["files"]] == ["seats_city.csv"]
    content = await ada.http.get(f"/artifacts/{workspace['files'][0]['artifact']}")
    assert content.text == "seats,city\n7,Bern\n"
    refused = await ask(ada, "export this to seats_city.csv", **thread)
    assert "exists" in refused["text"]
