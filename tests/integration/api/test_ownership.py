"""Every endpoint of the OpenAPI document, asked by nobody and by somebody else."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI

from app.api.exception_handlers import MEDIA_TYPE
from app.db.tables import ArtifactRow, DatasetRow
from app.main import create_app
from app.settings import load_settings

from .conftest import PREFIX, User, client_of
from .test_sessions import create

GENERATED = {"source": {"kind": "generate", "rows": 3, "columns": [{"name": "n", "type": "index"}]}}
"""A query plan that needs no dataset."""
NODES = [{"id": "made", "type": "plan", "config": {"plan": GENERATED}}]

BODIES: dict[str, dict[str, Any]] = {
    "respond_session": {"answer": "survived"},
    "fork_session": {"at": {"step": 1}},
    "update_dataset": {"note": "Ask Kim about the fares."},
    "correct_dataset_schema": {"columns": {"age": "number"}},
    "continue_upload": {},
    "predict": {"rows": [{"age": 29}]},
    "predict_table": {"dataset_id": str(UUID(int=7))},
    "update_session": {"name": "x"},
    "update_thread": {"title": "Passengers"},
    "replace_workflow": {"nodes": NODES},
    "patch_workflow": {"operations": [{"op": "remove", "path": "/nodes/0"}]},
    "restore_workflow": {"to": 1},
    "propose_workflow_change": {"message": "run it every weekday at 8"},
    "run_workflow": {},
    "move_workflow_tag": {"version": 1},
    "retry_workflow_run": {},
    "answer_workflow_run": {"answer": "approve"},
    "update_worldline": {"name": "without outliers"},
    "delete_account": {"password": "wrong horse battery"},
}
"""A valid body for every operation on an id that takes one: an invalid one is refused before any look-up."""

PLAIN = {
    "tool": "edit_file",
    "step": "1",
    "call": "tool:0.0",
    "image_format": "png",
    "version": "1",
    "tag": "production",
    "graph": "pipeline",
    "other": "1",
    "name": "weather",
    "node_id": "hook",
    "token": "x" * 43,
}
"""Parts of paths that are no id."""

OPEN = {
    "call_webhook",
    "register",
    "sign_in",
    "start_browser_session",
    "refresh",
    "get_config",
    "healthz",
    "readyz",
    "metrics",
}
"""What nobody may call."""


@dataclass(frozen=True)
class Operation:
    id: str
    method: str
    path: str
    ids: tuple[str, ...]
    spec: dict[str, Any]


def operations() -> list[Operation]:
    document = create_app(load_settings(_env_file=None, labcrew_home=Path("unused"))).openapi()
    return [
        Operation(
            id=spec["operationId"],
            method=method.upper(),
            path=path.removeprefix(PREFIX),
            ids=tuple(
                part["name"]
                for part in spec.get("parameters", [])
                if part["in"] == "path" and part["name"] not in PLAIN
            ),
            spec=spec,
        )
        for path, methods in document["paths"].items()
        for method, spec in methods.items()
    ]


OPERATIONS = operations()
CLOSED = [operation for operation in OPERATIONS if operation.id not in OPEN]
MINE = [operation for operation in CLOSED if "admin" not in operation.spec["tags"]]
"""What each user has things of their own of."""
ON_IDS = [operation for operation in MINE if operation.ids]


@dataclass(frozen=True)
class Shared:
    """What both users have: ada a thing of every kind, eve nothing."""

    app: FastAPI
    ada: User
    eve: User
    things: dict[str, UUID | str]


@pytest.fixture
async def shared(app: FastAPI, ada: User, eve: User) -> Shared:
    session = UUID(await create(ada))
    said = await ada.http.post("/chat", params={"wait": 0}, json={"message": "hello"})
    key = (await ada.http.post("/auth/api_keys", json={"name": "nightly"})).json()["id"]
    workflow = (await ada.http.post("/workflows", json={"name": "made", "nodes": NODES})).json()["id"]
    job = "nightly-1"
    sent = {"version": "1.0", "job_id": job, "prompt": "how many rows are there?"}
    assert (await ada.http.post("/agent/jobs", json=sent)).status_code == 201
    words = {"message": "run it every weekday at 8"}
    proposal = (await ada.http.post(f"/workflows/{workflow}/proposals", json=words)).json()["id"]
    begun = await ada.http.post("/uploads", json={"filename": "cities.csv", "size_bytes": 10})
    dataset, artifact = a_dataset(ada.id), an_artifact(ada.id, session)
    async with app.state.resources.open_uow() as uow:
        uow.db.add_all([dataset, artifact])
    things = {
        "session_id": session,
        "run_id": session,
        "dataset_id": dataset.id,
        "artifact_id": artifact.id,
        "upload_id": UUID(begun.json()["id"]),
        "chart_id": artifact.id,
        "model_id": artifact.id,
        "key_id": UUID(key),
        "job_id": job,
        "workflow_id": UUID(workflow),
        "proposal_id": UUID(proposal),
        "thread_id": UUID(said.json()["thread_id"]),
        "worldline_id": UUID(said.json()["worldline_id"]),
        "other_worldline_id": UUID(said.json()["worldline_id"]),
        "turn_id": UUID(said.json()["turn_id"]),
    }
    return Shared(app, ada, eve, things)


async def test_nobody_is_turned_away_everywhere(shared: Shared) -> None:
    async with client_of(shared.app) as anonymous:
        answers = {
            operation.id: await anonymous.request(
                operation.method, operation.path.format(**dict.fromkeys(operation.ids, uuid4()), **PLAIN)
            )
            for operation in CLOSED
        }
    expected = (401, "not_signed_in", MEDIA_TYPE, "Bearer")
    assert {name: refusal(answer) for name, answer in answers.items()} == dict.fromkeys(answers, expected)


def refusal(answer: httpx.Response) -> tuple[int, str, str | None, str | None]:
    headers = answer.headers
    return answer.status_code, answer.json()["code"], headers["content-type"], headers.get("www-authenticate")


async def test_a_false_credential_is_turned_away(app: FastAPI) -> None:
    for credential in ("nonsense", "lab_nonsense", "eyJhbGciOiJub25lIn0.e30."):
        async with client_of(app, credential) as forger:
            assert (credential, (await forger.get("/auth/me")).status_code) == (credential, 401)


async def test_what_is_somebody_elses_does_not_exist(shared: Shared) -> None:
    """The answer to an id of ada's is the answer to an id of nobody's."""
    unknown = {operation.id for operation in ON_IDS if "requestBody" in operation.spec} - BODIES.keys()
    assert not unknown, "give these operations a body in BODIES"
    for operation in ON_IDS:
        theirs = await ask_for(shared.eve, operation, shared.things)
        nothing = await ask_for(shared.eve, operation, dict.fromkeys(operation.ids, uuid4()))
        assert (operation.id, theirs["status"], nothing["status"]) == (operation.id, 404, 404)
        assert theirs == nothing


async def ask_for(user: User, operation: Operation, ids: Mapping[str, UUID | str]) -> dict[str, Any]:
    """What is answered, without what differs from request to request."""
    path = operation.path.format(**ids, **PLAIN)
    answer = await user.http.request(operation.method, path, json=BODIES.get(operation.id))
    said: dict[str, Any] = {**answer.json(), "request_id": None}
    for part in operation.ids:
        said["detail"] = said["detail"].replace(str(ids[part]), "ID")
    return said


async def test_an_owner_finds_what_others_do_not(shared: Shared) -> None:
    paths = ["/lab/agent/sessions/{session_id}", "/datasets/{dataset_id}", "/artifacts/{artifact_id}/info"]
    for path in paths:
        assert (await shared.ada.http.get(path.format(**shared.things))).status_code == 200


async def test_somebody_elses_dataset_cannot_be_worked_on(shared: Shared) -> None:
    theirs = str(shared.things["dataset_id"])
    body = {"goal": "Take a look.", "dataset_ids": [theirs]}
    refused = await shared.eve.http.post("/lab/agent/sessions", json=body)
    assert (refused.status_code, refused.json()["code"]) == (404, "dataset_not_found")
    predicted = await shared.eve.http.post(f"/models/{uuid4()}/predict", json={"dataset_id": theirs})
    assert predicted.status_code == 404


IN_BODIES: list[tuple[str, str, dict[str, Any]]] = [
    ("dataset_id", "/lab/agent/sessions", {"goal": "Take a look.", "dataset_ids": ["ID"]}),
    ("dataset_id", "/query-plans/compile", {"plan": GENERATED, "dataset_ids": ["ID"]}),
    ("dataset_id", "/runs", {"language": "python", "code": "1", "dataset_ids": ["ID"]}),
    ("dataset_id", "/runs", {"language": "sql", "code": "select 1", "dataset_ids": ["ID"]}),
    ("session_id", "/runs", {"language": "python", "code": "1", "session_id": "ID"}),
    ("thread_id", "/runs", {"language": "python", "code": "1", "thread_id": "ID"}),
    ("dataset_id", "/chat?wait=0", {"message": "hello", "dataset_ids": ["ID"]}),
    ("thread_id", "/chat?wait=0", {"message": "hello", "thread_id": "ID"}),
    ("worldline_id", "/chat?wait=0", {"message": "hello", "worldline_id": "ID"}),
    ("thread_id", "/chat/stream", {"message": "hello", "thread_id": "ID"}),
    ("worldline_id", "/chat/stream", {"message": "hello", "worldline_id": "ID"}),
    ("dataset_id", "/chat/stream", {"message": "hello", "dataset_ids": ["ID"]}),
    ("worldline_id", "/tools/sql", {"worldline_id": "ID", "code": "select 1"}),
    ("worldline_id", "/tools/python", {"worldline_id": "ID", "code": "1"}),
    ("worldline_id", "/generate-diff", {"worldline_id": "ID", "name": "x.md", "content": "a"}),
    ("turn_id", "/worldlines", {"thread_id": "ID", "from_turn": "ID"}),
    ("thread_id", "/worldlines", {"thread_id": "ID", "from_turn": "ID"}),
    ("workflow_id", "/intent", {"message": "run it every weekday at 8", "workflow_id": "ID"}),
]
"""Kind of a thing, and a request that names one beside its path."""


async def test_somebody_elses_thing_named_in_a_body_does_not_exist(
    shared: Shared, subtests: pytest.Subtests
) -> None:
    for kind, path, body in IN_BODIES:
        with subtests.test(path, body=body):
            answers = []
            for id_ in (str(shared.things[kind]), str(uuid4())):
                text = json.dumps(body).replace("ID", id_)
                headers = {"content-type": "application/json"}
                answer = await shared.eve.http.post(path, content=text, headers=headers)
                assert answer.status_code == 404, answer.text
                said: dict[str, Any] = {**answer.json(), "request_id": None}
                answers.append(json.loads(json.dumps(said).replace(id_, "ID")))
            assert answers[0] == answers[1]


IN_QUERIES = [
    ("session_id", "/artifacts?session_id=ID"),
    ("thread_id", "/artifacts?thread_id=ID"),
    ("worldline_id", "/artifacts?worldline_id=ID"),
    ("session_id", "/models?session_id=ID"),
    ("dataset_id", "/runs?dataset_id=ID"),
    ("thread_id", "/runs?thread_id=ID"),
    ("thread_id", "/worldlines?thread_id=ID"),
]
"""Kind of a thing, and a list that is asked for it."""


async def test_somebody_elses_thing_named_in_a_query_does_not_exist(
    shared: Shared, subtests: pytest.Subtests
) -> None:
    for kind, path in IN_QUERIES:
        with subtests.test(path):
            answers = []
            for id_ in (str(shared.things[kind]), str(uuid4())):
                answer = await shared.eve.http.get(path.replace("ID", id_))
                said: dict[str, Any] = {**answer.json(), "request_id": None}
                answers.append((answer.status_code, json.loads(json.dumps(said).replace(id_, "ID"))))
            assert answers[0] == answers[1]


async def test_lists_hold_nothing_of_somebody_else(shared: Shared) -> None:
    lists = [one for one in MINE if not one.ids and "Page_" in str(one.spec["responses"].get("200"))]
    assert len(lists) >= 4
    for operation in lists:
        listed = (await shared.eve.http.get(operation.path)).json()
        assert (operation.id, listed["items"], listed["total"]) == (operation.id, [], 0)


def a_dataset(owner: UUID) -> DatasetRow:
    return DatasetRow(
        id=uuid4(),
        owner_id=owner,
        name="passengers",
        filename="passengers.csv",
        source_digest="0" * 64,
        source_size_bytes=1,
        digest="0" * 64,
        size_bytes=1,
        rows=1,
        columns=[{"name": "age", "type": "number"}],
        format={"kind": "csv"},
        profile={"rows": 1, "approximate": False, "columns": []},
    )


def an_artifact(owner: UUID, session: UUID | None, **values: Any) -> ArtifactRow:
    made = {
        "kind": "model",
        "name": "ridge",
        "media_type": "application/vnd.skops",
        "digest": "0" * 64,
        "meta": {},
        **values,
    }
    return ArtifactRow(id=uuid4(), owner_id=owner, session_id=session, seq=1, size_bytes=1, **made)
