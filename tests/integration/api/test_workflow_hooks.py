"""Runs that begin by a webhook, and by a new dataset: once each."""

import asyncio
import hashlib
import hmac
import json
import time
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.workflows.triggers import datasets
from app.workflows.triggers.limits import MAX_LIVE_RUNS
from app.workflows.triggers.sweep import TriggerSweep

from .conftest import User
from .test_workflow_runs import follow, run

HIDDEN = "signing-word"
NODES = [
    {"id": "prices", "type": "payload", "config": {"fields": {"price": "number"}, "records": "/items"}},
    {"id": "best", "type": "sql", "config": {"sql": "SELECT min(price) AS low FROM prices"}},
]
EDGES = [{"from": "prices", "to": "best"}]


async def save(user: User, trigger: dict[str, Any], fields: dict[str, str]) -> str:
    nodes = [
        {"id": "hook", "type": "trigger", "config": {"kind": "webhook", **trigger}},
        {**NODES[0], "config": {"fields": fields, "records": "/items"}},
        NODES[1],
    ]
    saved = await user.http.post("/workflows", json={"name": "Hooked", "nodes": nodes, "edges": EDGES})
    assert saved.status_code == 201, saved.text
    return f"/workflows/{saved.json()['id']}"


def sign(body: bytes, at: float) -> str:
    text = f"{at:.0f}.".encode() + body
    return f"t={at:.0f},v1={hmac.new(HIDDEN.encode(), text, hashlib.sha256).hexdigest()}"


@pytest.mark.usefixtures("worker")
async def test_a_call_of_a_secret_address_begins_a_run_with_its_payload(
    app: FastAPI, ada: User, eve: User, anonymous: httpx.AsyncClient
) -> None:
    path = await save(ada, {}, {"source": "text"})
    assert (await eve.http.post(f"{path}/triggers/hook/token")).status_code == 404
    assert (await ada.http.post(f"{path}/triggers/best/token")).json()["code"] == "trigger_not_found"
    made = (await ada.http.post(f"{path}/triggers/hook/token")).json()
    address = made["path"].partition("/api/v1")[2]
    payload = {"source": "shop", "items": [{"price": 7}, {"price": 3}]}

    wrong = {"items": []}, [1], {"source": 5}
    codes = [(await anonymous.post(address, json=body)).json()["code"] for body in wrong]
    assert codes == ["payload_wrong", "payload_unreadable", "payload_wrong"]
    assert (await anonymous.post(address, content=b"NaN")).json()["code"] == "payload_unreadable"
    large = await anonymous.post(address, json={"source": "x" * 70_000})
    assert (large.status_code, large.json()["code"]) == (413, "payload_too_large")
    assert (await anonymous.post(f"/hooks/{'x' * 43}", json=payload)).status_code == 404

    calls = [anonymous.post(address, json=payload, headers={"Idempotency-Key": "k-1"}) for _ in range(3)]
    answers = await asyncio.gather(*calls)
    assert {answer.status_code for answer in answers} == {202}, answers[0].text
    (run_id,) = {answer.json()["id"] for answer in answers}
    ended = await follow(ada, f"/workflow-runs/{run_id}")
    assert (ended["outcome"], ended["trigger"]) == ("succeeded", "hook"), ended
    assert ended["nodes"]["best"]["preview"] == [[3]]
    assert (await eve.http.get(f"/workflow-runs/{run_id}")).status_code == 404

    changed = [{"op": "replace", "path": "/nodes/@prices/config/fields", "value": {"shop": "text"}}]
    assert (await ada.http.post(f"{path}/patch", json={"operations": changed})).status_code == 200
    again = await anonymous.post(address, json=payload, headers={"Idempotency-Key": "k-1"})
    assert (again.status_code, again.json()) == (202, {"id": run_id}), again.text
    other = await anonymous.post(address, json={"source": "x"}, headers={"Idempotency-Key": "k-1"})
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")

    missing = await run(ada, path)
    assert missing["nodes"]["prices"]["code"] == "payload_missing"
    for table in ("workflow_triggers", "audit", "events", "sessions", "calls"):
        rows = await app.state.resources.database.rows(f"select * from {table}")
        assert made["token"] not in f"{[dict(row) for row in rows]}", table
    renewed = (await ada.http.post(f"{path}/triggers/hook/token")).json()
    assert (await anonymous.post(address, json=payload)).status_code == 404
    assert (await ada.http.delete(f"{path}/triggers/hook/token")).status_code == 204
    assert (await anonymous.post(renewed["path"].partition("/api/v1")[2], json=payload)).status_code == 404


async def test_a_signed_webhook_takes_no_unsigned_late_or_changed_call(
    ada: User, anonymous: httpx.AsyncClient
) -> None:
    await ada.http.put("/secrets/shop", json={"value": HIDDEN})
    path = await save(ada, {"secret": "shop"}, {})
    address = (await ada.http.post(f"{path}/triggers/hook/token")).json()["path"].partition("/api/v1")[2]
    body = json.dumps({"items": [{"price": 1}]}).encode()
    now = time.time()  # clock: signatures hold for minutes of the real clock
    signatures = {
        "none": None,
        "changed": sign(body + b" ", now),
        "late": sign(body, now - 1_000),
        "odd": "t=1e9,v1=x",
    }
    for name, signature in signatures.items():
        headers = {"X-Labcrew-Signature": signature} if signature else {}
        refused = await anonymous.post(address, content=body, headers=headers)
        assert (name, refused.status_code, refused.json()["code"]) == (name, 401, "signature_wrong")
    time_part, _, digest = sign(body, now).partition(",")
    repeats = [
        {"X-Labcrew-Signature": f"{time_part},{digest}"},
        {"X-Labcrew-Signature": f"{time_part},{digest}", "Idempotency-Key": "of-somebody-else"},
        {"X-Labcrew-Signature": f"{digest}, {time_part},v0=x"},
    ]
    answers = [await anonymous.post(address, content=body, headers=headers) for headers in repeats]
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 1


@pytest.mark.usefixtures("worker")
async def test_each_new_dataset_of_a_name_begins_one_run_that_reads_it(
    app: FastAPI, ada: User, eve: User
) -> None:
    async def upload(user: User, table: bytes, name: str = "prices.csv") -> str:
        answer = await user.http.post("/datasets", files={"file": (name, table)})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    first = await upload(ada, b"price\n5\n9\n")
    nodes = [
        {"id": "new", "type": "trigger", "config": {"kind": "dataset", "dataset_id": first}},
        {"id": "prices", "type": "read_dataset", "config": {"dataset_id": first}},
        {"id": "best", "type": "sql", "config": {"sql": "SELECT min(price) AS low FROM prices"}},
    ]
    content = {"name": "Fresh", "nodes": nodes, "edges": EDGES}
    saved = await ada.http.post("/workflows", json=content)
    assert saved.status_code == 201, saved.text
    foreign = await eve.http.post("/workflows", json=content)
    assert {fault["code"] for fault in foreign.json()["faults"]} == {"dataset_not_found"}

    resources = app.state.resources
    sweeps = [TriggerSweep(resources.database, resources.send, resources.settings.sessions) for _ in range(3)]
    await upload(ada, b"price\n4\n8\n")
    await upload(ada, b"price\n1\n", "other.csv")
    await upload(eve, b"price\n2\n")
    begun = [sum(await asyncio.gather(*(sweep.sweep() for sweep in sweeps))) for _ in range(2)]
    assert begun == [1, 0]
    (row,) = (await ada.http.get(f"/workflows/{saved.json()['id']}/runs")).json()
    ended = await follow(ada, f"/workflow-runs/{row['id']}")
    assert (ended["outcome"], ended["trigger"]) == ("succeeded", "new"), ended
    assert ended["nodes"]["best"]["preview"] == [[4]]

    # The trigger waits for datasets of the name, not of the one that it was made with.
    assert (await ada.http.delete(f"/datasets/{first}")).status_code < 300
    await upload(ada, b"price\n3\n")
    assert await sweeps[0].sweep() == 1
    (row, _) = (await ada.http.get(f"/workflows/{saved.json()['id']}/runs")).json()
    ended = await follow(ada, f"/workflow-runs/{row['id']}")
    assert ended["nodes"]["best"]["preview"] == [[3]], ended


async def test_datasets_that_wait_for_one_workflow_do_not_keep_those_of_another(
    app: FastAPI, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "MAX_FIRINGS", 1)
    database = app.state.resources.database
    paths = {}
    for name in ("busy", "free"):
        uploaded = await ada.http.post("/datasets", files={"file": (f"{name}.csv", b"price\n5\n")})
        dataset = uploaded.json()["id"]
        nodes = [
            {"id": "new", "type": "trigger", "config": {"kind": "dataset", "dataset_id": dataset}},
            {"id": "prices", "type": "read_dataset", "config": {"dataset_id": dataset}},
        ]
        saved = await ada.http.post("/workflows", json={"name": name, "nodes": nodes, "edges": []})
        paths[name] = f"/workflows/{saved.json()['id']}"
    assert (await ada.http.post(f"{paths['busy']}/run", json={})).status_code == 201
    columns = "owner_id, class, goal, preferences, dataset_ids, seed"
    await database.rows(
        f"insert into sessions (id, graph, {columns}) select gen_random_uuid(), 'workflow', {columns} "
        "from sessions cross join generate_series(1, $1::int) where owner_id = $2",
        MAX_LIVE_RUNS,
        ada.id,
    )
    for name in ("busy", "free"):
        await ada.http.post("/datasets", files={"file": (f"{name}.csv", b"price\n4\n")})
    assert await datasets.DatasetFirings(database).begin_all() == 1
    assert len((await ada.http.get(f"{paths['free']}/runs")).json()) == 1
    assert await datasets.DatasetFirings(database).begin_all() == 0
    await database.rows("update sessions set status = 'cancelled', ended_at = now()")
    assert await datasets.DatasetFirings(database).begin_all() == 1
