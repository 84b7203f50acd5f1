"""Summaries that the page draws: configuration, timeline, graph, evidence, and the claims of a report."""

import json
from hashlib import sha256
from uuid import UUID

import httpx
from fastapi import FastAPI

from .conftest import User
from .test_ownership import an_artifact
from .test_sessions import SESSIONS, create, sql

USAGE = {"cells": 1, "cpu_s": 1.5, "peak_memory_bytes": 80_000_000, "memory_limit_bytes": 2_000_000_000}
CALL = {"step": 2, "call": "tool:0.0"}


async def record(app: FastAPI, session: str) -> None:
    """Record two steps with a tool call and fits, and a call of the step that runs."""
    await sql(
        app,
        "update sessions set status = 'running', started_at = now(), last_seq = 2 where id = $1",
        UUID(session),
    )
    for seq, node in ((1, "planning"), (2, "data_retrieval")):
        await sql(
            app,
            "insert into steps (session_id, seq, node, update, fence, started_at)"
            " values ($1, $2, $3, '{}', 1, now())",
            UUID(session),
            seq,
            node,
        )
    for seq, kind, usage in (
        (2, "tool", USAGE),
        (2, "chat", {"input_tokens": 40, "output_tokens": 2}),
        (3, "tool", {}),
    ):
        await sql(
            app,
            "insert into calls (session_id, seq, key, kind, name, agent, request_digest, request, result,"
            " fence, started_at, duration_ms, usage) values ($1, $2, $3, $4, 'fetch_dataset', 'analyst', 'd',"
            " '{}', '{\"rows\": 9}', 1, now(), 2.5, $5)",
            UUID(session),
            seq,
            f"{kind}:0.0",
            kind,
            json.dumps(usage),
        )
    await sql(
        app,
        "insert into fits (session_id, round_key, candidate, name, spec, status) values"
        " ($1, '2.fits', 0, 'ridge', '{}', 'done'), ($1, '2.fits', 1, 'trees', '{}', 'failed')",
        UUID(session),
    )


async def test_anybody_may_read_what_the_service_allows(app: FastAPI, anonymous: httpx.AsyncClient) -> None:
    answer = await anonymous.get("/config")
    config = answer.json()
    settings = app.state.resources.settings
    assert config["limits"]["upload_bytes"] == settings.upload_max_size_mb << 20
    assert (config["registration"], config["chat_model"]) == ("open", "offline")
    (auc,) = [metric for metric in config["metrics"] if metric["name"] == "roc_auc"]
    assert (auc["greater_is_better"], auc["problem"]) == (True, "classification")
    assert str(settings.database_url) not in answer.text


async def test_a_timeline_counts_what_happened_in_each_step(app: FastAPI, ada: User) -> None:
    session = await create(ada)
    path = f"{SESSIONS}/{session}/timeline"
    assert (await ada.http.get(path)).json()["items"] == [], "it has not begun"
    await record(app, session)
    page = (await ada.http.get(path)).json()
    planned, retrieved, running = page["items"]
    assert (page["total"], planned["tool_calls"], planned["ended_at"] is None) == (3, 0, False)
    assert (retrieved["node"], retrieved["tool_calls"], retrieved["chat_calls"]) == ("data_retrieval", 1, 1)
    assert (retrieved["fits"], retrieved["failed_fits"], retrieved["tokens"]) == (2, 1, 42)
    assert (retrieved["cpu_s"], retrieved["peak_memory_bytes"]) == (1.5, 80_000_000)
    assert (running["step"], running["node"], running["ended_at"]) == (3, "", None)
    later = (await ada.http.get(path, params={"limit": 1, "offset": 1})).json()
    assert (later["items"][0]["step"], later["total"]) == (2, 3)


async def test_a_graph_shows_where_the_session_stands(app: FastAPI, ada: User) -> None:
    session = await create(ada)
    await record(app, session)
    graph = (await ada.http.get(f"{SESSIONS}/{session}/graph")).json()
    states = {node["name"]: node["state"] for node in graph["nodes"]}
    assert (graph["graph"], states["data_retrieval"], states["split"]) == ("pipeline", "done", "next")
    assert states["reporting"] == "waiting"


async def test_evidence_has_the_usage_of_the_cell_and_both_digests(app: FastAPI, ada: User) -> None:
    session = await create(ada)
    await record(app, session)
    evidence = (await ada.http.get(f"{SESSIONS}/{session}/steps/2/calls/tool:0.0")).json()
    assert {name: evidence["usage"][name] for name in USAGE} == USAGE
    assert evidence["result_digest"] == sha256(b'{"rows": 9}').hexdigest()
    assert (evidence["inherited"], evidence["request_digest"]) == (False, "d")


async def test_a_call_leads_to_the_claims_of_the_report(app: FastAPI, ada: User, eve: User) -> None:
    session = await create(ada)
    path = f"{SESSIONS}/{session}/claims"
    assert (await ada.http.get(path)).json()["items"] == [], "there is no report yet"
    shown = {"id": "c1", "text": "9", "value": 9, "style": "integer", "operation": "read", "operands": []}
    other = {"id": "c2", "text": "1", "value": 1, "style": "integer", "operation": "read", "operands": []}
    claims = [{**shown, **CALL, "pointer": "/rows"}, {**other, "step": 1, "call": "tool:0.0", "pointer": ""}]
    blob = await app.state.resources.blobs.put_bytes(json.dumps({"version": 2, "claims": claims}).encode())
    report = {"kind": "report", "name": "report.json", "media_type": "application/json", "digest": blob.digest}
    async with app.state.resources.open_uow() as uow:
        uow.db.add(an_artifact(ada.id, UUID(session), **report))
    found = (await ada.http.get(path, params=CALL)).json()
    assert [claim["id"] for claim in found["items"]] == ["c1"]
    assert found["items"][0]["sources"] == [{**CALL, "pointer": "/rows"}]
    assert (await ada.http.get(path)).json()["total"] == 2
    assert (await eve.http.get(path)).status_code == 404


async def test_a_running_session_that_is_deleted_is_in_no_list(app: FastAPI, ada: User) -> None:
    kept, deleted = await create(ada), await create(ada)
    await sql(
        app,
        "update sessions set status = 'running', started_at = now(), lease_until = now() + interval '1 hour'"
        " where id = $1",
        UUID(deleted),
    )
    assert (await ada.http.delete(f"{SESSIONS}/{deleted}/data")).status_code == 202
    for sort in ("newest", "oldest"):
        page = (await ada.http.get(SESSIONS, params={"sort": sort})).json()
        assert ([item["id"] for item in page["items"]], page["total"]) == ([kept], 1)
    assert (await ada.http.get(f"{SESSIONS}/counts")).json()["total"] == 1
