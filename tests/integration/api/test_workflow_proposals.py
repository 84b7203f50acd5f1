"""Words become proposed changes with a difference, which are accepted once or rejected."""

import asyncio
from typing import Any

import pytest

from .conftest import User

TABLE = b"city,price\nBern,134\nThun,435\nBiel,556\n"


@pytest.fixture
async def path(ada: User) -> str:
    answer = await ada.http.post("/datasets", files={"file": ("prices.csv", TABLE)})
    content = {
        "name": "Prices",
        "nodes": [
            {"id": "prices", "type": "read_dataset", "config": {"dataset_id": answer.json()["id"]}},
            {"id": "best", "type": "top_k", "config": {"k": 10, "by": "price"}},
        ],
        "edges": [{"from": "prices", "to": "best"}],
    }
    return f"/workflows/{(await ada.http.post('/workflows', json=content)).json()['id']}"


async def propose(ada: User, path: str, message: str, **fields: Any) -> dict[str, Any]:
    answer = await ada.http.post(f"{path}/proposals", json={"message": message, **fields})
    proposal: dict[str, Any] = answer.json()
    return proposal


async def test_a_change_in_words_is_shown_and_saved_when_it_is_accepted(ada: User, path: str) -> None:
    proposal = await propose(ada, path, "Run it every weekday at 8", time_zone="Europe/Berlin")
    assert proposal["difference"]["text"] == "+ trigger (trigger)", proposal
    assert (proposal["status"], proposal["faults"], proposal["version"]) == ("open", [], 1)
    assert (await ada.http.get(path)).json()["version"] == 1

    stale = await propose(ada, path, "use 3 instead of 10")
    accepted = await ada.http.post(f"/workflow-proposals/{proposal['id']}/accept")
    assert accepted.json()["status"] == "accepted", accepted.text
    again = await ada.http.post(f"/workflow-proposals/{proposal['id']}/accept")
    assert again.json()["status"] == "accepted"
    workflow = (await ada.http.get(path)).json()
    assert workflow["version"] == 2
    assert workflow["document"]["nodes"][-1]["config"]["cron"] == "0 8 * * 1-5"
    (newest, _) = (await ada.http.get(f"{path}/versions")).json()
    assert (newest["message"], newest["patch"]) == ("Run it every weekday at 8", proposal["operations"])

    refused = await ada.http.post(f"/workflow-proposals/{stale['id']}/accept")
    assert (refused.status_code, refused.json()["code"]) == (409, "workflow_changed")
    rejected = await ada.http.post(f"/workflow-proposals/{stale['id']}/reject")
    assert rejected.json()["status"] == "rejected"
    refused = await ada.http.post(f"/workflow-proposals/{stale['id']}/accept")
    assert refused.json()["code"] == "proposal_decided"
    listed = (await ada.http.get(f"{path}/proposals")).json()
    assert [one["status"] for one in listed] == ["rejected", "accepted"]


async def test_of_two_that_accept_at_once_both_see_one_version(ada: User, path: str) -> None:
    proposals = [await propose(ada, path, f"use {k} instead of 10") for k in (3, 4)]
    answers = await asyncio.gather(
        *(ada.http.post(f"/workflow-proposals/{one['id']}/accept") for one in proposals * 2)
    )
    assert sorted({answer.status_code for answer in answers}) == [200, 409]
    assert (await ada.http.get(path)).json()["version"] == 2


async def test_what_is_no_clear_change_is_refused_with_what_to_do(ada: User, path: str) -> None:
    expected = {
        "show me the top 10": "not_a_change",
        "change it": "change_unclear",
        "set k to 10": "nothing_changes",
        "set k to 0": "workflow_invalid",
    }
    codes = {message: (await propose(ada, path, message))["code"] for message in expected}
    assert codes == expected
    narrowed = await propose(ada, path, "only rows above 100")
    assert "+ filter (filter)" in narrowed["difference"]["text"]
    mailed = await propose(ada, path, "always send an email when the price drops")
    assert [fault["code"] for fault in mailed["faults"]] == ["email_not_configured"]
    assert "SMTP_URL" in mailed["faults"][0]["message"]
    assert "+ condition (condition)" in mailed["difference"]["text"]
    saved = await propose(ada, path, "", operations=[{"op": "remove", "path": "/nodes/@best"}], save=True)
    assert saved["code"] == "workflow_invalid"
    intent = await ada.http.post("/intent", json={"message": "remove best", "workflow_id": path.split("/")[-1]})
    assert intent.json()["lane"] == "patch"
