import asyncio
import base64
import json
from hashlib import sha256
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI
from tests.patience import hang_guard

from app.sessions.tool_permissions import ALWAYS, is_tool_allowed

from .conftest import User

GOAL = {"goal": "Predict which passengers survived."}
SESSIONS = "/lab/agent/sessions"


async def create(user: User, **headers: str) -> str:
    made = await user.http.post(SESSIONS, json=GOAL, headers=headers)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def sql(app: FastAPI, statement: str, *args: object) -> None:
    await app.state.resources.database.rows(statement, *args)


async def ask(app: FastAPI, session: str, key: str = "1.ask:1", text: str = "Which column?") -> None:
    body = {
        "text": text,
        "options": ["survived", "fare"],
        "default": "survived",
        "answer_schema": {"type": "string", "enum": ["survived", "fare"]},
    }
    await sql(
        app,
        "insert into questions (session_id, key, kind, agent, body)"
        " values ($1, $2, 'clarification', 'planner', $3)",
        UUID(session),
        key,
        json.dumps(body),
    )


async def end(app: FastAPI, session: str, status: str = "completed") -> None:
    await sql(app, "update sessions set status = $2, ended_at = now() where id = $1", UUID(session), status)


async def test_a_new_session_is_queued_and_shows_what_was_asked_for(ada: User) -> None:
    wanted = {**GOAL, "preferences": {"target": "survived", "seed": 7}}
    made = await ada.http.post(SESSIONS, json=wanted)
    view = (await ada.http.get(f"{SESSIONS}/{made.json()['id']}")).json()
    assert (view["status"], view["goal"], view["seed"], view["step"]) == ("queued", GOAL["goal"], 7, 0)
    assert view["preferences"]["target"] == "survived"
    assert view["preferences"]["time_budget_s"] == 60
    assert made.headers["location"] == f"{made.request.url.path}/{view['id']}"
    messages = (await ada.http.get(f"{SESSIONS}/{view['id']}/messages")).json()
    assert [(message["role"], message["text"]) for message in messages["items"]] == [("user", GOAL["goal"])]


async def test_sessions_without_a_seed_draw_alike(ada: User) -> None:
    seeds = [(await ada.http.get(f"{SESSIONS}/{await create(ada)}")).json()["seed"] for _ in range(2)]
    assert seeds == [1, 1]


async def test_a_new_session_is_announced_to_the_workers(app: FastAPI, ada: User) -> None:
    session = await create(ada)
    async with hang_guard():
        while (queued := await app.state.resources.redis.rpop("steps")) is None:  # noqa: ASYNC110 - in Redis
            await asyncio.sleep(0.01)
    assert session in base64.b64decode(json.loads(queued)["body"]).decode()


async def test_a_key_makes_one_session_however_often_it_is_sent(ada: User) -> None:
    ids = await asyncio.gather(*(create(ada, **{"Idempotency-Key": "once"}) for _ in range(8)))
    assert len(set(ids)) == 1
    assert (await ada.http.get(SESSIONS)).json()["total"] == 1
    assert await create(ada, **{"Idempotency-Key": "twice"}) not in ids


async def test_a_key_cannot_be_used_for_another_request(ada: User) -> None:
    await create(ada, **{"Idempotency-Key": "once"})
    other = await ada.http.post(SESSIONS, json={"goal": "Something else"}, headers={"Idempotency-Key": "once"})
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")


async def test_keys_of_two_users_do_not_meet(ada: User, eve: User) -> None:
    assert await create(ada, **{"Idempotency-Key": "k"}) != await create(eve, **{"Idempotency-Key": "k"})


async def test_a_session_on_an_unknown_dataset_is_not_made(ada: User) -> None:
    refused = await ada.http.post(SESSIONS, json={**GOAL, "dataset_ids": [str(uuid4())]})
    assert (refused.status_code, refused.json()["code"]) == (404, "dataset_not_found")
    assert (await ada.http.get(SESSIONS)).json()["total"] == 0


MACHINES = b"machine_id,age,brand,failed\nM1,3,Jura,no\nM2,40,Krups,yes\n"


async def test_a_preference_names_a_column_of_the_datasets(ada: User, subtests: pytest.Subtests) -> None:
    uploaded = await ada.http.post("/datasets", files={"file": ("machines.csv", MACHINES)})
    wanted = {**GOAL, "dataset_ids": [uploaded.json()["id"]]}
    refusals = {
        "target": "colour",
        "time_column": "when",
        "group_column": "brands",
        "exclude": ["age", "colour"],
        "column_types": {"colour": "category"},
    }
    for preference, value in refusals.items():
        with subtests.test(preference=preference):
            refused = await ada.http.post(SESSIONS, json={**wanted, "preferences": {preference: value}})
            problem = refused.json()
            assert (refused.status_code, problem["code"]) == (422, "unknown_column"), problem
            assert problem["field"] == f"body.preferences.{preference}"
            assert "The columns are machine_id, age, brand, failed." in problem["detail"]
            assert ("Did you mean brand?" in problem["detail"]) == (value == "brands")
    assert (await ada.http.get(SESSIONS)).json()["total"] == 0
    taken = {"target": "FAILED", "group_column": "brand", "exclude": ["age"]}
    assert (await ada.http.post(SESSIONS, json={**wanted, "preferences": taken})).status_code == 201


OUT_OF_BOUNDS: list[tuple[dict[str, object], str]] = [
    ({"goal": ""}, "body.goal"),
    ({"goal": "x" * 10_001}, "body.goal"),
    ({"goal": "a\0b, if you please"}, "body.goal"),
    ({"dataset_ids": [str(uuid4()) for _ in range(21)]}, "body.dataset_ids"),
    ({"dataset_ids": [str(UUID(int=1))] * 2}, "body.dataset_ids"),
    ({"preferences": {"metric": "rock_auc"}}, "body.preferences.metric"),
    ({"preferences": {"time_budget_s": 0}}, "body.preferences.time_budget_s"),
    ({"preferences": {"surprise": 1}}, "body.preferences.surprise"),
    ({"preferences": {"target": "x\0"}}, "body.preferences.target"),
    ({"owner_id": str(uuid4())}, "body.owner_id"),
]
"""A change of a valid request, and the field that is refused."""


async def test_a_request_out_of_bounds_names_the_field(ada: User, subtests: pytest.Subtests) -> None:
    for change, location in OUT_OF_BOUNDS:
        with subtests.test(location, change=change):
            refused = await ada.http.post(SESSIONS, json={**GOAL, **change})
            assert refused.status_code == 422
            assert [error["location"] for error in refused.json()["errors"]] == [location]


async def test_lists_come_in_pages_newest_first(ada: User) -> None:
    ids = [await create(ada) for _ in range(3)]
    page = (await ada.http.get(SESSIONS, params={"limit": 2})).json()
    assert ([item["id"] for item in page["items"]], page["total"]) == (ids[:0:-1], 3)
    rest = (await ada.http.get(SESSIONS, params={"limit": 2, "offset": 2})).json()
    assert [item["id"] for item in rest["items"]] == ids[:1]
    past = (await ada.http.get(SESSIONS, params={"offset": 99})).json()
    assert (past["items"], past["total"]) == ([], 3)
    said = (await ada.http.get(f"{SESSIONS}/{ids[0]}/messages", params={"offset": 99})).json()
    assert (said["items"], said["total"]) == ([], 1)


async def test_a_page_out_of_bounds_is_refused(ada: User) -> None:
    for query in ("limit=0", "limit=201", "offset=-1", "status=sleepy"):
        assert (query, (await ada.http.get(f"{SESSIONS}?{query}")).status_code) == (query, 422)


async def test_a_list_can_be_of_one_status(app: FastAPI, ada: User) -> None:
    done, _ = await create(ada), await create(ada)
    await end(app, done)
    page = (await ada.http.get(SESSIONS, params={"status": "completed"})).json()
    assert [item["id"] for item in page["items"]] == [done]


async def test_lists_count_the_time_of_a_session_without_its_waits(app: FastAPI, ada: User) -> None:
    session = await create(ada)
    assert (await ada.http.get(SESSIONS)).json()["items"][0]["worked_s"] == 0
    await end(app, session)
    began = "update sessions set started_at = ended_at - interval '90 s', waited_s = 30 where id = $1"
    await sql(app, began, UUID(session))
    view = (await ada.http.get(f"{SESSIONS}/{session}")).json()
    (item,) = (await ada.http.get(SESSIONS)).json()["items"]
    assert (item["worked_s"], view["worked_s"], view["usage"]["worked_s"]) == (60, 60, 60)


async def test_an_answer_is_stored_once_and_wakes_the_session(app: FastAPI, ada: User) -> None:
    session = await create(ada)
    await ask(app, session)
    view = (await ada.http.get(f"{SESSIONS}/{session}")).json()
    assert view["question"]["key"] == "1.ask:1"
    answered = await ada.http.post(f"{SESSIONS}/{session}/respond", json={"answer": "fare"})
    assert (answered.status_code, answered.json()["question"]) == (202, "1.ask:1")
    again = await ada.http.post(
        f"{SESSIONS}/{session}/respond", json={"question": "1.ask:1", "answer": "survived"}
    )
    assert (again.status_code, again.json()["code"]) == (409, "question_answered")
    row = await app.state.resources.database.row(
        "select s.wake, s.event_seq, q.answer, q.answered_by from sessions s join questions q on true"
    )
    assert dict(row) == {"wake": 2, "event_seq": 1, "answer": '"fare"', "answered_by": "user"}
    assert (await ada.http.get(f"{SESSIONS}/{session}")).json()["question"] is None


async def test_of_two_answers_at_once_one_counts(app: FastAPI, ada: User) -> None:
    session = await create(ada)
    await ask(app, session)
    answers = await asyncio.gather(
        *(ada.http.post(f"{SESSIONS}/{session}/respond", json={"answer": "fare"}) for _ in range(6))
    )
    assert sorted(answer.status_code for answer in answers) == [202] + [409] * 5


async def test_an_answer_that_the_question_does_not_allow_changes_nothing(app: FastAPI, ada: User) -> None:
    session = await create(ada)
    await ask(app, session)
    refused = await ada.http.post(f"{SESSIONS}/{session}/respond", json={"answer": "age"})
    assert (refused.status_code, refused.json()["code"]) == (422, "answer_invalid")
    assert refused.json()["answer_schema"]["enum"] == ["survived", "fare"]
    assert (await ada.http.get(f"{SESSIONS}/{session}")).json()["question"] is not None


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"answer": "x"}, 409, "nothing_asked"),
        ({"answer": "x", "question": "9.ask:9"}, 404, "question_not_found"),
        ({}, 422, "invalid_request"),
    ],
)
async def test_an_answer_to_nothing_is_refused(ada: User, body: dict[str, str], status: int, code: str) -> None:
    session = await create(ada)
    refused = await ada.http.post(f"{SESSIONS}/{session}/respond", json=body)
    assert (refused.status_code, refused.json()["code"]) == (status, code)


async def test_a_cancel_is_seen_at_once_and_asking_twice_is_asking_once(app: FastAPI, ada: User) -> None:
    session = await create(ada)
    for _ in range(2):
        asked = await ada.http.delete(f"{SESSIONS}/{session}")
        assert (asked.status_code, asked.json()["status"]) == (202, "cancelling")
    row = await app.state.resources.database.row("select cancel, wake from sessions")
    assert dict(row) == {"cancel": True, "wake": 2}


async def test_a_finished_session_cannot_be_cancelled_or_answered(app: FastAPI, ada: User) -> None:
    session = await create(ada)
    await ask(app, session)
    await end(app, session)
    cancelled = await ada.http.delete(f"{SESSIONS}/{session}")
    answered = await ada.http.post(f"{SESSIONS}/{session}/respond", json={"answer": "fare"})
    assert cancelled.status_code == answered.status_code == 409
    assert cancelled.json()["code"] == answered.json()["code"] == "session_ended"


async def test_the_trail_has_what_the_user_did_and_what_agents_called(app: FastAPI, ada: User) -> None:
    session = await create(ada)
    await sql(
        app,
        "insert into calls (session_id, seq, key, kind, name, agent, request_digest, request, result, fence,"
        " started_at, duration_ms) values ($1, 1, 'tool:1.0', 'tool', 'perform_eda', 'data_analyst', 'd',"
        """ '{"frame": "train"}', '{}', 1, now(), 2.5)""",
        UUID(session),
    )
    await sql(
        app,
        "insert into steps (session_id, seq, node, update, fence, started_at) values"
        " ($1, 1, 'data_analysis', '{}', 1, now())",
        UUID(session),
    )
    await ada.http.delete(f"{SESSIONS}/{session}")
    trail = (await ada.http.get(f"{SESSIONS}/{session}/audit")).json()["items"]
    assert [(row["actor"], row["action"]) for row in trail] == [
        ("user", "session_created"),
        ("data_analyst", "tool_called"),
        ("system", "step_committed"),
        ("user", "session_cancel_asked"),
    ]
    assert trail[1]["detail"]["result_digest"] == sha256(b"{}").hexdigest()
    assert trail[1]["detail"]["arguments"] == {"frame": "train"}
    (step,) = (await ada.http.get(f"{SESSIONS}/{session}/steps")).json()["items"]
    assert (step["node"], step["calls"][0]["name"]) == ("data_analysis", "perform_eda")


async def test_results_show_the_candidates_of_every_round(app: FastAPI, ada: User) -> None:
    session = await create(ada)
    await sql(
        app,
        "insert into fits (session_id, round_key, candidate, name, spec, status) values"
        " ($1, '5.fits', 0, 'ridge', '{}', 'done')",
        UUID(session),
    )
    results = (await ada.http.get(f"{SESSIONS}/{session}/results")).json()
    assert (results["result"], results["candidates"][0]["name"]) == (None, "ridge")
    assert (await ada.http.get(f"{SESSIONS}/{session}/artifacts")).json()["items"] == []


async def test_a_user_cannot_have_more_live_sessions_than_the_limit(app: FastAPI, ada: User, eve: User) -> None:
    object.__setattr__(app.state.resources.settings, "user_sessions", 2)
    await create(ada)
    await create(ada)
    refused = await ada.http.post(SESSIONS, json=GOAL)
    assert (refused.status_code, refused.json()["code"], refused.json()["limit"]) == (
        429,
        "too_many_sessions",
        2,
    )
    await create(eve)


async def test_nobody_sees_no_session(anonymous: httpx.AsyncClient, ada: User) -> None:
    session = await create(ada)
    assert (await anonymous.get(f"{SESSIONS}/{session}")).status_code == 401


async def allow(app: FastAPI, session: str, key: str, tool: str) -> None:
    """An approval of that tool, answered for the rest of the session."""
    body = {"text": "?", "options": [], "default": "reject", "answer_schema": {}, "about": {"tool": tool}}
    await sql(
        app,
        "insert into questions (session_id, key, kind, agent, body, answer, answered_by, answered_at)"
        " values ($1, $2, 'approval', 'reporter', $3, $4, 'user', now())",
        UUID(session),
        key,
        json.dumps(body),
        json.dumps(ALWAYS),
    )


async def test_a_tool_that_may_run_without_asking_is_shown_and_can_be_stopped(
    app: FastAPI, ada: User, eve: User
) -> None:
    session = await create(ada)
    await allow(app, session, "4.approve:tool:0.0", "edit_file")
    rules = f"{SESSIONS}/{session}/allowances"
    [rule] = (await ada.http.get(rules)).json()
    assert (rule["tool"], rule["question"]) == ("edit_file", "4.approve:tool:0.0")
    database = app.state.resources.database
    assert await is_tool_allowed(database, UUID(session), "edit_file")
    assert not await is_tool_allowed(database, UUID(session), "run_python")
    for other in (await eve.http.get(rules), await eve.http.delete(f"{rules}/edit_file")):
        assert other.status_code == 404
    assert (await ada.http.delete(f"{rules}/edit_file")).status_code == 204
    assert (await ada.http.get(rules)).json() == []
    assert not await is_tool_allowed(database, UUID(session), "edit_file")
    again = await ada.http.delete(f"{rules}/edit_file")
    assert (again.status_code, again.json()["code"]) == (404, "allowance_not_found")
