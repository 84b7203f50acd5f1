"""Workflows over the real API: saved, patched, compared, restored, and run in a real cell."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from tests.patience import hang_guard

from .conftest import User

TABLE = b"city,country,people\nBern,CH,134000\nThun,CH,43500\nBiel,CH,55600\nGraz,AT,291000\n"


@pytest.fixture
async def content(ada: User) -> dict[str, Any]:
    """The two largest cities, and the total of each country."""
    answer = await ada.http.post("/datasets", files={"file": ("cities.csv", TABLE)})
    total = {"name": "total", "function": "sum", "column": "people"}
    return {
        "nodes": [
            {"id": "cities", "type": "read_dataset", "config": {"dataset_id": answer.json()["id"]}},
            {"id": "largest", "type": "top_k", "config": {"k": 2, "by": "people"}},
            {"id": "totals", "type": "group_by", "config": {"keys": ["country"], "aggregations": [total]}},
        ],
        "edges": [{"from": "cities", "to": "largest"}, {"from": "cities", "to": "totals"}],
    }


async def save(user: User, content: dict[str, Any], **headers: str) -> dict[str, Any]:
    answer = await user.http.post("/workflows", json={"name": "Cities", **content}, headers=headers)
    assert answer.status_code == 201, answer.text
    saved: dict[str, Any] = answer.json()
    return saved


@pytest.mark.usefixtures("worker")
async def test_a_workflow_is_saved_patched_and_run(ada: User, content: dict[str, Any]) -> None:
    workflow = await save(ada, content)
    assert (workflow["version"], workflow["document"]) == (1, content)
    path = f"/workflows/{workflow['id']}"
    operations = [{"op": "replace", "path": "/nodes/@largest/config/k", "value": 1}]
    shown = await ada.http.post(f"{path}/patch", params={"dry": True}, json={"operations": operations})
    assert shown.json()["difference"]["text"] == "~ largest config.k: 2 -> 1"
    assert (await ada.http.get(path)).json() == workflow
    patched = await ada.http.post(f"{path}/patch", json={"operations": operations, "version": 1})
    assert patched.json()["workflow"]["version"] == 2
    assert [one["patch"] for one in (await ada.http.get(f"{path}/versions")).json()] == [operations, None]
    assert (await ada.http.get(f"{path}/versions/2/diff/1")).json()["text"] == "~ largest config.k: 1 -> 2"

    tables = {}
    for version, node in ((1, "largest"), (2, "largest"), (None, "totals")):
        started = await ada.http.post(f"{path}/run", json={"node": node, "version": version})
        assert started.status_code == 201, started.text
        async with hang_guard():
            while True:
                run = (await ada.http.get(f"/runs/{started.json()['id']}")).json()
                if run["ended_at"]:
                    break
                await asyncio.sleep(0.01)
        assert run["status"] == "succeeded", run
        tables[version, node] = run["table"]["rows"]
    assert tables[1, "largest"] == [["Graz", "AT", 291000], ["Bern", "CH", 134000]]
    assert tables[2, "largest"] == [["Graz", "AT", 291000]]
    assert sorted(tables[None, "totals"]) == [["AT", 291000], ["CH", 233100]]
    runs = (await ada.http.get(f"{path}/runs")).json()
    assert [(run["version"], run["node"]) for run in runs] == [(2, "totals"), (2, "largest"), (1, "largest")]


async def test_of_two_changes_at_once_one_is_asked_to_look_again(ada: User, content: dict[str, Any]) -> None:
    workflow = await save(ada, content)
    path = f"/workflows/{workflow['id']}"
    answers = await asyncio.gather(
        *(
            ada.http.post(
                f"{path}/patch",
                json={
                    "version": 1,
                    "operations": [{"op": "replace", "path": "/nodes/@largest/config/k", "value": k}],
                },
            )
            for k in range(3, 9)
        )
    )
    assert sorted(answer.status_code for answer in answers) == [200, *[409] * 5]
    assert {answer.json().get("code") for answer in answers} == {None, "workflow_changed"}
    assert (await ada.http.get(path)).json()["version"] == 2


async def test_an_earlier_version_is_restored_as_a_new_one(ada: User, content: dict[str, Any]) -> None:
    workflow = await save(ada, content)
    path = f"/workflows/{workflow['id']}"
    smaller = {"nodes": content["nodes"][:1], "name": "One"}
    assert (await ada.http.put(path, json=smaller)).json()["workflow"]["name"] == "One"
    restored = (await ada.http.post(f"{path}/restore", json={"to": 1})).json()["workflow"]
    assert (restored["version"], restored["document"]) == (3, content)
    assert (await ada.http.get(f"{path}/versions/3")).json()["message"] == "Restore version 1."
    assert (await ada.http.get(f"{path}/versions/9")).json()["code"] == "version_not_found"
    assert (await ada.http.delete(path)).status_code == 204
    assert (await ada.http.get(path)).json()["code"] == "workflow_not_found"


async def test_every_fault_is_named_and_nothing_is_saved(ada: User, content: dict[str, Any]) -> None:
    content["nodes"][1]["config"]["by"] = "peple"
    content["nodes"][2]["config"]["keys"] = ["contry"]
    checked = (await ada.http.post("/workflows/validate", json=content)).json()
    assert [(fault["pointer"], fault["nearest"]) for fault in checked["faults"]] == [
        ("/nodes/1/config", ["people"]),
        ("/nodes/2/config", ["country", "city"]),
    ]
    refused = await ada.http.post("/workflows", json={"name": "Cities", **content})
    assert (refused.status_code, refused.json()["code"]) == (422, "workflow_invalid")
    content["nodes"][0]["config"]["dataset_id"] = str(uuid4())
    checked = (await ada.http.post("/workflows/validate", json=content)).json()
    assert [fault["code"] for fault in checked["faults"]] == ["dataset_not_found"]
    assert (await ada.http.get("/workflows")).json()["items"] == []


@pytest.mark.parametrize("text", ["a\0b", {"a\0b": 1}, [["\0"]]])
async def test_a_text_that_would_be_saved_as_another_is_refused(
    ada: User, content: dict[str, Any], text: Any
) -> None:
    path = f"/workflows/{(await save(ada, content))['id']}"
    content["nodes"][1]["config"]["by"] = text
    for method, place in (("POST", "/workflows"), ("PUT", path)):
        refused = await ada.http.request(method, place, json={"name": "Cities", **content})
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request"), refused.text
    operations = [{"op": "replace", "path": "/nodes/@largest/config/by", "value": text}]
    refused = await ada.http.post(f"{path}/patch", json={"operations": operations})
    assert (refused.status_code, refused.json()["code"]) == (422, "patch_breaks_workflow"), refused.text


async def test_a_key_saves_one_workflow(ada: User, content: dict[str, Any]) -> None:
    key = {"Idempotency-Key": "cities"}
    saved = [await save(ada, content, **key) for _ in range(2)]
    assert saved[0]["id"] == saved[1]["id"]
    other = await ada.http.post("/workflows", json={"name": "x", "nodes": content["nodes"][:1]}, headers=key)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
    assert len((await ada.http.get("/workflows")).json()["items"]) == 1


async def test_a_workflow_with_several_outputs_needs_to_be_told_which(
    ada: User, content: dict[str, Any]
) -> None:
    workflow = await save(ada, content)
    refused = await ada.http.post(f"/workflows/{workflow['id']}/run", json={})
    assert refused.json()["code"] == "several_outputs"
    assert "largest, totals" in refused.json()["detail"]


async def test_each_version_names_its_author(ada: User, content: dict[str, Any]) -> None:
    path = f"/workflows/{(await save(ada, content))['id']}"
    key = (await ada.http.post("/auth/api_keys", json={"name": "nightly"})).json()
    smaller = {"nodes": content["nodes"][:1]}
    headers = {"Authorization": f"Bearer {key['key']}"}
    assert (await ada.http.put(path, json=smaller, headers=headers)).status_code == 200
    operation = {"op": "replace", "path": "/nodes/0/id", "value": "first"}
    proposed = {"message": "", "operations": [operation], "save": True}
    assert (await ada.http.post(f"{path}/proposals", json=proposed, headers=headers)).status_code == 201
    versions = (await ada.http.get(f"{path}/versions")).json()
    person = {"email": ada.email, "kind": "person", "name": None, "session_id": None}
    by_key = {**person, "kind": "api_key", "name": "nightly"}
    assert [version["author"] for version in versions] == [by_key, by_key, person]
