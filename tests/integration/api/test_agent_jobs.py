"""Jobs of machines over the Redis queue and over HTTP: each answered once, with the same answer."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from fastapi import FastAPI
from redis.asyncio import Redis
from tests.patience import hang_guard

from app.agent_jobs.message import JobMessage
from app.agent_jobs.patch_lane import change_workflow
from app.agent_jobs.queue import DEAD, QUEUE, RESULTS
from app.agent_jobs.service import JobService
from app.sessions.step_scope import Call, CallResult, SessionFacts, StepScope
from app.settings import Settings
from app.tasks import cancel_and_wait
from app.worker.agent_jobs import make_job_services
from app.worker.event_loop import WorkerServices

from .conftest import User
from .test_ownership import GENERATED

FLIGHTS = b"city,price\nBern,134\nThun,435\nBiel,556\nBern,90\n"
MESSAGE = {"version": "1.0", "workflow_owner": "flights"}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"agent_queue_url": settings.redis_url})


@pytest.fixture
async def redis(settings: Settings) -> AsyncIterator["Redis"]:
    async with Redis.from_url(str(settings.agent_queue_url), decode_responses=True) as client:
        yield client


@pytest.fixture
async def owner(ada: User, services: WorkerServices, redis: "Redis") -> AsyncIterator[User]:
    """The account behind `flights`, with a table, and a worker that listens."""
    assert services.job_sweep is not None
    assert services.job_sweep.queue is not None
    services.job_sweep.config.owners["flights"] = ada.email  # type: ignore[index]  # a mapping proxy elsewhere
    uploaded = await ada.http.post("/datasets", files={"file": ("flights.csv", FLIGHTS)})
    assert uploaded.status_code == 201, uploaded.text
    tasks = [asyncio.create_task(work) for work in services.job_sweep.background()]
    yield ada
    await cancel_and_wait(*tasks)


async def push(redis: "Redis", **fields: Any) -> None:
    await redis.lpush(QUEUE, json.dumps({**MESSAGE, **fields}))  # type: ignore[misc]


async def read(redis: "Redis", job_id: str) -> dict[str, Any]:
    async with hang_guard():
        while True:
            if answer := await redis.rpop(f"{RESULTS}{job_id}"):  # type: ignore[misc]
                return dict(json.loads(answer))
            await asyncio.sleep(0.01)


async def follow(user: User, job_id: str) -> dict[str, Any]:
    async with hang_guard():
        while True:
            view: dict[str, Any] = (await user.http.get(f"/agent/jobs/{job_id}")).json()
            if view["answer"]:
                return view
            await asyncio.sleep(0.01)


@pytest.mark.usefixtures("worker")
async def test_a_prompt_for_data_comes_back_once_however_often_it_is_sent(owner: User, redis: "Redis") -> None:
    for _ in range(3):
        await push(redis, job_id="a-1", prompt="what is the mean price by city?", run_id="r7", node_id="n1")
    async with hang_guard():
        while await redis.llen(f"{RESULTS}a-1") == 0 or await redis.llen(QUEUE):  # type: ignore[misc]  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert await redis.llen(f"{RESULTS}a-1") == 1  # type: ignore[misc]
    answer = await read(redis, "a-1")
    assert answer["status"] == "completed", answer
    assert answer["result_preview"].get("rows") == [["Bern", 112], ["Biel", 556], ["Thun", 435]], answer
    metadata = answer["metadata"]
    assert (metadata["lane"], metadata["run_id"], metadata["node_id"]) == ("execute", "r7", "n1")
    assert [call["ok"] for call in metadata["tool_calls"]] == [True]
    artifact = await owner.http.get(f"/artifacts/{answer['result_ref'].removeprefix('artifact://')}")
    assert artifact.status_code == 200

    # Its steps make the answer again, as a workflow.
    kept = await owner.http.post("/workflows", json={"name": "Means", "steps": answer["steps"]})
    assert kept.status_code == 201, kept.text
    assert [node["type"] for node in kept.json()["document"]["nodes"]][:2] == ["read_dataset", "group_by"]

    await push(redis, job_id="a-1", prompt="another prompt with the same id")
    assert await read(redis, "a-1") == answer
    assert (await owner.http.get("/agent/jobs/a-1")).json()["answer"] == answer
    assert len((await owner.http.get("/agent/jobs")).json()) == 1


@pytest.mark.usefixtures("worker")
async def test_a_lasting_change_comes_back_as_a_patch_and_as_a_proposal(owner: User, redis: "Redis") -> None:
    (dataset,) = (await owner.http.get("/datasets")).json()["items"]
    nodes = [
        {"id": "flights", "type": "read_dataset", "config": {"dataset_id": dataset["id"]}},
        {"id": "best", "type": "top_k", "config": {"k": 10, "by": "price"}},
    ]
    document = {"nodes": nodes, "edges": [{"from": "flights", "to": "best"}]}
    await push(redis, job_id="p-1", prompt="change the limit to 3", current_workflow=document)
    answer = await read(redis, "p-1")
    preview = answer["result_preview"]
    assert (answer["status"], answer["metadata"]["lane"]) == ("completed", "patch"), answer
    assert preview["patch"] == [{"op": "replace", "path": "/nodes/1/config/k", "value": 3}]
    assert preview["workflow"]["nodes"][1]["config"]["k"] == 3
    assert answer["result_ref"].startswith("artifact://")

    saved = (await owner.http.post("/workflows", json={"name": "Best", **document})).json()
    for _ in range(3):
        await push(redis, job_id="p-2", workflow_tag="Best", prompt="run it every weekday at 8")
    answer = await read(redis, "p-2")
    assert answer["status"] == "needs_input", answer
    path = f"/workflows/{saved['id']}"
    assert (await owner.http.get(path)).json()["version"] == 1
    (proposal,) = (await owner.http.get(f"{path}/proposals")).json()
    assert proposal["id"] == answer["result_preview"]["proposal"]

    await push(redis, job_id="p-3", workflow_tag="Best", prompt="use 4 instead of 10", save=True)
    answer = await read(redis, "p-3")
    assert (answer["status"], answer["result_preview"]["saved"]) == ("completed", True)
    author = (await owner.http.get(f"{path}/versions/2")).json()["author"]
    assert (author["email"], author["kind"]) == (owner.email, "job")
    assert author["session_id"] is not None
    await push(redis, job_id="p-4", workflow_tag="Best", prompt="use 5 instead of 4", current_workflow=document)
    assert (await read(redis, "p-4"))["error"]["type"] == "workflow_changed"


@pytest.mark.usefixtures("worker")
async def test_a_sentence_with_a_source_of_its_own_is_a_new_workflow(owner: User, redis: "Redis") -> None:
    dataset = (await owner.http.get("/datasets")).json()["items"][0]
    prompt = f"every monday at 9 take {dataset['name']}, sort by price and store the result as weekly prices"
    context = {"dataset_ids": [dataset["id"]]}
    intent = (await owner.http.post("/intent", json={"message": prompt, "context": context})).json()
    assert (intent["lane"], intent["reason"]) == ("patch", "It makes a workflow of its own source.")
    for job_id, saves in (("s-1", False), ("s-2", True)):
        await push(redis, job_id=job_id, prompt=prompt, save=saves, time_zone="Europe/Berlin")
        preview = (await read(redis, job_id))["result_preview"]
        types = [node["type"] for node in preview["workflow"]["nodes"]]
        assert sorted(types) == ["read_dataset", "sort", "store", "trigger"]
        assert preview.get("saved", False) is saves
    saved = (await owner.http.get(f"/workflows/{preview['workflow_id']}")).json()
    trigger = next(node for node in saved["document"]["nodes"] if node["type"] == "trigger")
    assert trigger["config"] == {"kind": "schedule", "cron": "0 9 * * 1", "time_zone": "Europe/Berlin"}
    await push(redis, job_id="s-3", prompt="run it every weekday at 8")
    assert (await read(redis, "s-3"))["error"]["type"] == "workflow_missing"


@pytest.mark.usefixtures("worker")
async def test_earlier_results_are_tables_and_jobs_of_a_session_remember(owner: User, redis: "Redis") -> None:
    trains = [{"line": "S1", "delay": 3}, {"line": "S2", "delay": 9}]
    context = {"previous_results": [{"name": "trains", "records": trains}], "datasets": [], "session_id": "s"}
    await push(redis, job_id="t-1", prompt="SQL: select * from trains order by delay desc", context=context)
    first = await read(redis, "t-1")
    assert first["result_preview"]["rows"] == [["S2", 9], ["S1", 3]], first
    again = {"previous_results": [{"name": "late", "result_ref": first["result_ref"]}], "datasets": []}
    await push(redis, job_id="t-2", prompt="SQL: select max(delay) as top from late", context=again)
    assert (await read(redis, "t-2"))["result_preview"]["rows"] == [[9]]
    await push(redis, job_id="t-3", prompt="what is the mean delay in trains?", context=context)
    assert "6" in (await read(redis, "t-3"))["result_preview"]["text"]


def nest(depth: int) -> list[Any]:
    value: Any = 1
    for _ in range(depth):
        value = {"inner": value}
    return [value]


async def test_what_is_no_job_is_refused_with_the_reason(owner: User, eve: User, redis: "Redis") -> None:
    await redis.lpush(QUEUE, "no JSON {")  # type: ignore[misc]
    async with hang_guard():
        while not (dead := await redis.lrange(DEAD, 0, -1)):  # type: ignore[misc]  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert json.loads(dead[0])["reason"] == "job_unreadable"
    refused = {
        "v-2": {"version": "2.0", "prompt": "hello"},
        "v-3": {"prompt": ""},
        "v-4": {"prompt": "hello", "workflow_owner": "strangers"},
        "v-5": {"prompt": "PLAN: {}"},
        "v-6": {"prompt": "hello", "context": {"previous_results": [{"name": "x"}]}},
        "v-7": {"prompt": "hello", "context": {"previous_results": [{"name": "x", "records": nest(260)}]}},
    }
    errors = {}
    for job_id, fields in refused.items():
        await push(redis, job_id=job_id, **fields)
        answer = await read(redis, job_id)
        assert answer["status"] == "failed"
        errors[job_id] = answer["error"]["type"]
    assert errors == {
        "v-2": "unknown_version",
        "v-3": "invalid_job",
        "v-4": "owner_unknown",
        "v-5": "plan_invalid",
        "v-6": "previous_result_wrong",
        "v-7": "invalid_job",
    }
    assert (await owner.http.get("/agent/jobs")).json() == []


async def test_a_message_that_breaks_the_service_is_kept_and_does_not_hold_those_behind_it(
    owner: User, eve: User, services: WorkerServices, redis: "Redis"
) -> None:
    assert services.job_sweep is not None
    assert services.job_sweep.queue is not None
    queue = services.job_sweep.queue
    queue.config.owners["strangers"] = eve.email  # type: ignore[index]  # a mapping proxy elsewhere
    eves = (await eve.http.get("/auth/me")).json()["id"]

    def jobs_of(account: UUID) -> JobService:
        if str(account) == eves:
            raise ValueError("an error that nobody expects")
        return queue.jobs_of(account)

    fragile = replace(queue, jobs_of=jobs_of, listener_id="fragile")
    await redis.lpush(fragile.in_progress, json.dumps({**MESSAGE, "job_id": "g-2", "prompt": "hello"}))  # type: ignore[misc]
    broken = {**MESSAGE, "job_id": "g-1", "prompt": "hello", "workflow_owner": "strangers"}
    await redis.rpush(fragile.in_progress, json.dumps(broken))  # type: ignore[misc]
    listening = asyncio.create_task(fragile.listen_for_ever())
    assert (await read(redis, "g-1"))["error"]["type"] == "job_not_taken"
    async with hang_guard():
        while await redis.llen(fragile.in_progress):  # type: ignore[misc]  # noqa: ASYNC110 - the listener does it
            await asyncio.sleep(0.01)
    assert [job["job_id"] for job in (await owner.http.get("/agent/jobs")).json()] == ["g-2"]
    assert json.loads((await redis.lrange(DEAD, 0, -1))[0])["reason"] == "job_not_taken"  # type: ignore[misc]
    await cancel_and_wait(listening)


@pytest.mark.usefixtures("worker")
async def test_http_takes_the_same_messages(owner: User, eve: User) -> None:
    message = {"version": "1.0", "job_id": "h-1", "prompt": "how many flights are there?"}
    sent = await owner.http.post("/agent/jobs", json=message, headers={"Idempotency-Key": "h-1"})
    assert sent.status_code == 201, sent.text
    assert sent.headers["Location"] == "/api/v1/agent/jobs/h-1"
    assert (await eve.http.get("/agent/jobs/h-1")).status_code == 404
    view = await follow(owner, "h-1")
    assert "4" in view["answer"]["result_preview"]["text"], view
    assert (await owner.http.post("/agent/jobs", json=message)).json() == view
    other = {**message, "prompt": "how many cities are there?"}
    assert (await owner.http.post("/agent/jobs", json=other)).json()["code"] == "job_id_reused"
    wrong = await owner.http.post("/agent/jobs", json={**message, "version": "9.0", "job_id": "h-2"})
    assert wrong.json()["code"] == "unknown_version"
    assert (await owner.http.post("/agent/jobs/h-1/cancel")).json()["code"] == "job_answered"
    theirs = {"previous_results": [{"name": "x", "result_ref": view["answer"]["result_ref"]}]}
    stolen = {**message, "job_id": "e-1", "prompt": "SQL: select * from x", "context": theirs}
    assert (await eve.http.post("/agent/jobs", json=stolen)).status_code == 201
    view = await follow(eve, "e-1")
    assert view["answer"]["error"]["type"] == "result_not_found"


async def test_a_job_with_the_id_of_an_open_job_of_another_account_is_kept_apart(
    owner: User, eve: User, services: WorkerServices, redis: "Redis"
) -> None:
    assert services.job_sweep is not None
    services.job_sweep.config.owners["strangers"] = eve.email  # type: ignore[index]  # a mapping proxy elsewhere
    await push(redis, job_id="i-1", prompt="how many flights are there?")
    await push(redis, job_id="i-1", prompt="hello", workflow_owner="strangers")
    async with hang_guard():
        while not (dead := await redis.lrange(DEAD, 0, -1)):  # type: ignore[misc]  # noqa: ASYNC110 - the listener does it
            await asyncio.sleep(0.01)
    assert json.loads(dead[0])["reason"] == "job_id_taken"
    assert await redis.llen(f"{RESULTS}i-1") == 0  # type: ignore[misc]
    assert (await eve.http.get("/agent/jobs")).json() == []
    assert [job["job_id"] for job in (await owner.http.get("/agent/jobs")).json()] == ["i-1"]


class DyingStep:
    """Runs a call, and dies before it is recorded where it should."""

    def __init__(self, session: SessionFacts, dies: bool) -> None:
        self.session, self.dies = session, dies

    async def call(self, call: Call, run: Callable[[], Awaitable[CallResult]]) -> Any:
        value = (await run()).value
        if self.dies:
            raise ConnectionResetError
        return value


@pytest.mark.parametrize("saves", [True, False])
async def test_a_change_whose_worker_died_before_it_was_recorded_is_answered_as_made(
    app: FastAPI, owner: User, saves: bool
) -> None:
    reads = {"nodes": [{"id": "made", "type": "plan", "config": {"plan": GENERATED}}], "edges": []}
    saved = (await owner.http.post("/workflows", json={"name": "Best", **reads})).json()
    session = SessionFacts(uuid4(), owner.id, "", {}, (), 0, datetime(2026, 1, 1, tzinfo=UTC))
    changes = make_job_services(app.state.resources, session).changes
    fields = {"job_id": "d-1", "prompt": "run it every weekday at 8", "workflow_tag": "Best", "save": saves}
    message = JobMessage.model_validate({**MESSAGE, **fields})
    with pytest.raises(ConnectionResetError):
        await change_workflow(cast(StepScope, DyingStep(session, True)), changes, message)
    outcome = await change_workflow(cast(StepScope, DyingStep(session, False)), changes, message)
    assert outcome["saved"] is saves, outcome
    assert outcome["workflow"]["nodes"][1]["type"] == "trigger"
    now = (await owner.http.get(f"/workflows/{saved['id']}")).json()
    assert now["version"] == (2 if saves else 1)
    assert (now["document"] == outcome["workflow"]) is saves


async def test_a_job_that_is_cancelled_before_it_ran_says_so(owner: User) -> None:
    message = {"version": "1.0", "job_id": "c-1", "prompt": "how many flights are there?"}
    assert (await owner.http.post("/agent/jobs", json=message)).json()["status"] == "queued"
    assert (await owner.http.post("/agent/jobs/c-1/cancel")).status_code == 202


async def test_a_job_that_was_begun_is_free_to_be_answered_at_once(
    app: FastAPI, owner: User, redis: "Redis"
) -> None:
    await push(redis, job_id="f-1", prompt="how many flights are there?")
    free = "select count(*) from agent_jobs j join sessions using (id) where j.claimed_until is null"
    async with hang_guard():
        while await app.state.resources.database.value(free) != 1:  # noqa: ASYNC110 - another task does it
            await asyncio.sleep(0.01)


@pytest.mark.usefixtures("worker")
async def test_a_trial_is_answered_at_once_and_only_in_development(app: FastAPI, owner: User) -> None:
    answered = await owner.http.post("/test/chat", json={"prompt": "show me the top 2 flights by price"})
    assert answered.status_code == 200, answered.text
    view = answered.json()
    assert [row[-1] for row in view["answer"]["result_preview"]["rows"]] == [556, 435], view
    reads = {"nodes": [{"id": "made", "type": "plan", "config": {"plan": GENERATED}}], "edges": []}
    changed = await owner.http.post(
        "/test/chat", json={"prompt": "run it every weekday at 8", "current_workflow": reads}
    )
    assert changed.json()["answer"]["metadata"]["lane"] == "patch", changed.text
    assert changed.json()["answer"]["result_preview"]["patch"][0]["op"] == "add"
    assert (await owner.http.post("/test/chat", json={"prompt": ""})).status_code == 422
    resources = app.state.resources
    production = resources.settings.model_copy(update={"labcrew_env": "production"})
    app.state.resources = replace(resources, settings=production)
    try:
        refused = await owner.http.post("/test/chat", json={"prompt": "how many flights?"})
    finally:
        app.state.resources = resources
    assert (refused.status_code, refused.json()["code"]) == (403, "development_only")
