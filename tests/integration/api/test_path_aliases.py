"""Shorter paths lead to the same operations, behind the same credentials and limits."""

from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI
from redis.asyncio import Redis

from app.api.server.path_aliases import API_NAMES, ROOT_NAMES, find_canonical
from app.auth.principal import ALL_SCOPES, Scope
from app.settings import Settings

from .conftest import PREFIX, User
from .test_matrix import a_key, ask, needs, said
from .test_ownership import CLOSED, Operation
from .test_threads import dataset  # noqa: F401 - a fixture

ALIASED = [operation for operation in CLOSED if operation.path.split("/")[1] in ROOT_NAMES]

JOBS_THAT_WAIT = """
with users_and_jobs as (
  insert into agent_jobs (id, owner_id, job_id, message, digest, is_queued)
  select gen_random_uuid(), (select min(id::text)::uuid from users), n::text, '{}'::json, 'digest', true
  from generate_series(1, 2) n returning 1)
select count(*) from users_and_jobs
"""


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"compatible_paths": True})


@pytest.fixture
async def root(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://lab") as http:
        yield http


def aliases(operation: Operation) -> list[str]:
    name = operation.path.split("/")[1]
    return ["", "/api"] if name in API_NAMES else [""]


async def test_an_alias_answers_as_its_operation_to_every_credential(
    app: FastAPI, ada: User, root: httpx.AsyncClient
) -> None:
    assert len(ALIASED) > 20
    keys = {scope: await a_key(ada, *(ALL_SCOPES - {scope})) for scope in Scope}
    for operation in ALIASED:
        for prefix in aliases(operation):
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://lab{prefix}") as http:
                answer = await ask(http, operation)
                assert (operation.id, prefix, *said(answer)) == (operation.id, prefix, 401, "not_signed_in")
                needed = needs(operation)
                http.headers["Authorization"] = f"Bearer {keys[needed or Scope.ADMIN]}"
                answer = await ask(http, operation)
                assert (operation.id, *said(answer)) == (operation.id, 403, "scope_missing")


@pytest.mark.usefixtures("worker")
async def test_code_runs_as_a_tool_of_a_worldline(
    ada: User,
    eve: User,
    root: httpx.AsyncClient,
    dataset: str,  # noqa: F811
) -> None:
    root.headers["Authorization"] = f"Bearer {ada.tokens['access_token']}"
    first = (
        await root.post("/chat", json={"message": "PYTHON: n = len(cities)", "dataset_ids": [dataset]})
    ).json()
    place = {"worldline_id": first["worldline_id"]}
    answer = await root.post("/api/tools/sql", json={**place, "sql": "select count(*) as n from cities"})
    assert answer.json()["table"]["rows"] == [[4]]
    answer = await root.post(f"{PREFIX}/tools/python", json={**place, "code": "n", "timeout_s": 60})
    assert (answer.json()["text"], answer.json()["mode"]) == ("4", "python")
    assert (await eve.http.post("/tools/python", json={**place, "code": "n"})).status_code == 404
    events = await root.post(
        "/api/chat", json={**place, "message": "hello"}, headers={"Accept": "text/event-stream"}
    )
    assert events.headers["content-type"].startswith("text/event-stream")
    page = await root.get("/runs", headers={"Accept": "text/html"})
    assert "items" not in page.text
    assert (await root.get("/runs")).json()["items"] == []


@pytest.mark.usefixtures("worker")
async def test_the_result_of_a_run_is_the_answer_of_its_alias_unless_the_request_says_how_long_it_waits(
    ada: User, root: httpx.AsyncClient
) -> None:
    root.headers["Authorization"] = f"Bearer {ada.tokens['access_token']}"
    code = {"query_type": "python", "python_code": "result = 6 * 7"}
    answer = await root.post("/runs", json=code)
    assert (answer.status_code, answer.json()["value"]) == (200, 42)
    answer = await root.post("/runs", params={"wait": 0}, json=code)
    assert (answer.status_code, answer.json()["status"]) == (201, "queued")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api/v1/chat",
        "/api/v2/chat",
        "/chatter",
        "/api/runs",
        "/x/chat",
        "/api//chat",
        "//chat",
        "/sign-in",
        "/api",
    ],
)
def test_other_paths_are_left_alone(path: str) -> None:
    assert find_canonical(path) is None


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize("accept", ["*/*", "text/html,application/xhtml+xml"])
async def test_the_health_of_the_queue_is_read_without_a_credential(
    app: FastAPI, root: httpx.AsyncClient, accept: str
) -> None:
    database = app.state.resources.database
    await database.value(
        "insert into workers (id, graphs, queues) values (gen_random_uuid(), '{}', '{steps,compute}')"
    )
    answer = await root.get("/health", headers={"Accept": accept})
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"status": "ok", "redis": "ok", "workers": 1, "queue_depth": 0, "llm": "offline"}
    await database.value(JOBS_THAT_WAIT)
    assert (await root.get("/health")).json()["queue_depth"] == 2


async def test_the_health_of_the_queue_names_what_is_away(app: FastAPI, root: httpx.AsyncClient) -> None:
    resources = app.state.resources
    async with Redis(port=1) as away:
        app.state.resources = replace(resources, redis=away, job_queue=away)
        answer = (await root.get("/health")).json()
    app.state.resources = resources
    assert (answer["status"], answer["redis"]) == ("limited", "unavailable")
    assert (answer["workers"], answer["queue_depth"]) == (0, None)


async def test_aliases_are_off_by_default() -> None:
    assert Settings(_env_file=None).compatible_paths is False


async def test_an_unknown_turn_is_not_found_at_its_alias(ada: User, root: httpx.AsyncClient) -> None:
    root.headers["Authorization"] = f"Bearer {ada.tokens['access_token']}"
    assert (await root.get(f"/turns/{uuid4()}")).json()["code"] == "turn_not_found"
