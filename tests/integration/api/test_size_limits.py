"""How much one user and one address may ask for."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import update
from tests.patience import HANG_GUARD_S, hang_guard
from websockets.asyncio.client import connect

from app.api.access.rate_limit import client_network
from app.api.streams import socket_protocol as sockets
from app.auth.rate_limits import RateMeter
from app.db.tables import UserRow

from .conftest import PASSWORD, PREFIX, NewUser, User, client_of
from .test_datasets import CSV
from .test_ownership import a_dataset
from .test_sessions import GOAL, SESSIONS, create
from .test_stream import Server, Stage, closed, heard, server, session, stage

__all__ = ["server", "session", "stage"]


async def give(app: FastAPI, user: User, **quotas: Any) -> None:
    async with app.state.resources.open_uow() as uow:
        await uow.db.execute(update(UserRow).where(UserRow.id == user.id).values(quotas=quotas))
    await app.state.auth_services.revocations.announce(user.id)
    assert (await user.http.get("/auth/me")).status_code == 200


@contextmanager
def set_to(app: FastAPI, **settings: Any) -> Iterator[None]:
    for name, value in settings.items():
        object.__setattr__(app.state.auth_services.config, name, value)
    yield


async def test_every_answer_says_what_is_left(app: FastAPI, ada: User) -> None:
    await give(app, ada, requests="100/day")
    first, second = [(await ada.http.get("/auth/me")).headers for _ in range(2)]
    assert (first["ratelimit-limit"], first["ratelimit-policy"]) == ("100", "100;w=86400")
    assert int(first["ratelimit-remaining"]) - int(second["ratelimit-remaining"]) == 1
    assert 0 < int(second["ratelimit-reset"]) <= 86_400


async def test_over_the_rate_is_429_and_says_when_to_come_back(app: FastAPI, ada: User, eve: User) -> None:
    await give(app, ada, requests="10/hour")
    answers = await asyncio.gather(*(ada.http.get("/auth/me") for _ in range(20)))
    refused = [answer for answer in answers if answer.status_code == 429]
    assert 10 <= len(refused) <= 11, "one request was for the quotas to be known"
    problem = refused[-1].json()
    assert (problem["code"], problem["limit"], problem["of"]) == ("rate_limited", 10, "requests")
    headers = refused[-1].headers
    assert 0 < int(headers["retry-after"]) <= 2 * 3600
    assert headers["ratelimit-remaining"] == "0"
    assert (await eve.http.get("/auth/me")).status_code == 200


async def test_an_api_key_counts_for_its_user(app: FastAPI, ada: User) -> None:
    key = (await ada.http.post("/auth/api_keys", json={"name": "nightly"})).json()["key"]
    await give(app, ada, requests="3/hour")
    async with client_of(app, key) as program:
        codes = [(await program.get("/auth/me")).status_code for _ in range(5)]
    assert codes[-1] == 429


async def test_strangers_are_counted_by_their_address(app: FastAPI, anonymous: httpx.AsyncClient) -> None:
    with set_to(app, address_requests="5/hour"):
        codes = [(await anonymous.get("/auth/me")).status_code for _ in range(7)]
    assert codes == [401] * 5 + [429] * 2
    assert (await anonymous.get("/healthz")).status_code == 200, "who watches the service is not counted"


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
    ],
)
def test_one_customer_is_one_address(host: str, network: str) -> None:
    assert client_network(host) == network


async def test_uploads_have_a_rate_of_their_own(app: FastAPI, ada: User) -> None:
    await give(app, ada, uploads="1/hour")
    body = {"content": b"", "headers": {"Content-Type": "application/octet-stream"}}
    codes = [(await ada.http.post("/datasets", **body)).status_code for _ in range(2)]
    assert codes == [422, 429]
    assert (await ada.http.get("/datasets")).status_code == 200


async def test_who_used_up_the_compute_seconds_starts_nothing_new(app: FastAPI, ada: User) -> None:
    await give(app, ada, compute="60/hour")
    session = await create(ada)
    await app.state.auth_services.rate_limiter.add(RateMeter("compute", str(ada.id), "60/hour", 61))
    refused = await ada.http.post(SESSIONS, json=GOAL)
    assert (refused.status_code, refused.json()["of"]) == (429, "compute")
    assert (await ada.http.get(f"{SESSIONS}/{session}")).status_code == 200
    assert (await ada.http.delete(f"{SESSIONS}/{session}")).status_code == 202


async def test_what_an_upload_computes_is_charged(app: FastAPI, ada: User) -> None:
    await give(app, ada, compute="1/hour")
    for _ in range(40):  # a short computation is charged a second as often as it uses one
        made = await ada.http.post("/datasets", files={"file": ("cities.csv", CSV)})
        if made.status_code == 429:
            break
        assert made.status_code == 201, made.text
    assert made.json()["of"] == "compute"


async def test_who_has_no_room_stores_nothing(app: FastAPI, ada: User) -> None:
    await give(app, ada, stored_mb=1)
    large = a_dataset(ada.id)
    large.size_bytes = 1 << 20
    async with app.state.resources.open_uow() as uow:
        uow.db.add(large)
    refused = await ada.http.post("/datasets", files={"file": ("cities.csv", CSV)})
    assert (refused.status_code, refused.json()["code"]) == (429, "storage_full")
    assert (await ada.http.post(SESSIONS, json=GOAL)).json()["code"] == "storage_full"
    assert (await ada.http.delete(f"/datasets/{large.id}")).status_code == 204
    assert (await ada.http.post(SESSIONS, json=GOAL)).status_code == 201


@pytest.mark.usefixtures("worker")
async def test_a_turn_whose_files_have_no_room_says_so_and_stores_nothing(app: FastAPI, ada: User) -> None:
    await give(app, ada, stored_mb=1)
    message = "PYTHON: import numpy as np, pandas as pd\nt = pd.DataFrame({'x': np.random.rand(300_000)})"
    turn = await follow_turn(ada, message=message)
    assert turn["status"] == "failed", turn
    assert turn["failure"]["code"] == "storage_full"
    assert "1,048,576 bytes" in turn["failure"]["message"]
    assert turn["artifacts"] == []
    assert (await ada.http.get("/auth/me/usage")).json()["stored_bytes"] == 0
    small = await follow_turn(ada, message="PYTHON: result = 1", thread_id=turn["thread_id"])
    assert small["status"] == "succeeded", small


async def follow_turn(user: User, **message: Any) -> dict[str, Any]:
    """Send a message and return its turn once that has ended, however long it takes."""
    async with hang_guard():
        streamed = await user.http.post("/chat/stream", json=message)
    turn: dict[str, Any] = (await user.http.get(streamed.headers["Location"].removeprefix(PREFIX))).json()
    return turn


async def test_a_file_for_which_there_is_no_room_is_not_read(app: FastAPI, ada: User) -> None:
    await give(app, ada, stored_mb=1)

    async def never() -> Any:
        raise AssertionError("the body was read")
        yield b""

    headers = {"Content-Length": str(2 << 20), "Content-Type": "application/octet-stream"}
    refused = await ada.http.post("/datasets", content=never(), headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (429, "storage_full")


async def test_a_user_has_so_many_open_streams(
    app: FastAPI, server: Server, ada: User, session: str, stage: Stage
) -> None:
    await give(app, ada, sockets=1)
    await stage.say("one")
    async with server.open(session, ada) as first:
        await heard(first, 1)
        async with server.open(session, ada) as second:
            assert (await closed(second))[0] == sockets.Close.TOO_MANY
        async with httpx.AsyncClient(headers=ada.http.headers, timeout=HANG_GUARD_S) as http:
            refused = await http.get(server.url(session, scheme="http"))
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_streams")
    await stage.finish()
    held = f"places:streams of this user:{ada.id}"
    async with hang_guard():  # the server hears a little later that the first has left
        while await app.state.resources.redis.exists(held):  # noqa: ASYNC110 - Redis rings no bell
            await asyncio.sleep(0.01)
    async with server.open(session, ada) as third:
        assert (await closed(third))[0] == sockets.Close.ENDED


async def test_a_socket_over_the_rate_is_closed_with_a_code(
    app: FastAPI, server: Server, ada: User, session: str
) -> None:
    with set_to(app, address_requests="1/hour"):
        await client_of(app).get("/auth/me")
        headers = {"Authorization": f"Bearer {ada.tokens['access_token']}"}
        async with connect(
            server.url(session), additional_headers=headers, open_timeout=HANG_GUARD_S
        ) as client:
            code = (await closed(client))[0]
    assert code == sockets.Close.TOO_MANY


async def test_a_stream_ends_when_its_user_signs_out(
    server: Server, ada: User, session: str, stage: Stage
) -> None:
    await stage.say("one")
    async with server.open(session, ada) as client:
        await heard(client, 1)
        async with (
            httpx.AsyncClient(headers=ada.http.headers, timeout=HANG_GUARD_S) as http,
            http.stream("GET", server.url(session, scheme="http")) as events,
        ):
            lines = events.aiter_lines()
            assert await anext(lines) == "retry: 1000"
            assert (await ada.http.post("/auth/logout")).status_code == 204
            assert (await closed(client))[0] == sockets.Close.NOT_SIGNED_IN
            assert [line async for line in lines if line.startswith("event: session_")] == []


async def test_a_stream_ends_with_the_ticket_of_a_key_that_is_revoked(
    app: FastAPI, server: Server, ada: User, session: str, stage: Stage
) -> None:
    made = (await ada.http.post("/auth/api_keys", json={"name": "nightly", "scopes": ["read"]})).json()
    async with client_of(app, made["key"]) as program:
        ticket = (await program.post(f"{SESSIONS}/{session}/ticket")).json()["ticket"]
    await stage.say("one")
    async with server.open(session, query=f"?ticket={ticket}") as client:
        await heard(client, 1)
        await client.send(json.dumps({"type": "cancel"}))
        (refused,) = await heard(client, 1)
        assert refused["code"] == "scope_missing"
        await ada.http.delete(f"/auth/api_keys/{made['id']}")
        assert (await closed(client))[0] == sockets.Close.NOT_SIGNED_IN


async def test_a_stream_ends_when_its_token_does(
    app: FastAPI, server: Server, new_user: NewUser, stage: Stage
) -> None:
    eve = await new_user()
    theirs = await create(eve)
    await Stage(app, UUID(theirs)).say("one")
    for ttl_s in (2.0, 20.0, 200.0):  # until it was quick enough to hear something
        with set_to(app, access_ttl_s=ttl_s):
            tokens = (
                await eve.http.post("/auth/token", json={"email": eve.email, "password": PASSWORD})
            ).json()
        async with server.open(theirs, replace(eve, tokens=tokens)) as client:
            code, before = await closed(client)
        assert code == sockets.Close.NOT_SIGNED_IN
        if before:
            break
    assert [event["text"] for event in before] == ["one"]


async def test_a_process_hears_of_what_another_revoked(
    app: FastAPI, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    auth_services = app.state.auth_services
    monkeypatch.setattr(auth_services.authenticator, "_ttl_s", HANG_GUARD_S)  # no poll meanwhile
    who = await auth_services.authenticator.authenticate(ada.tokens["access_token"])
    left = asyncio.create_task(auth_services.authenticator.wait_until_ended(who))
    async with app.state.resources.open_uow() as uow:
        await uow.db.execute(update(UserRow).where(UserRow.id == ada.id).values(disabled_at=UserRow.created_at))
    assert (await ada.http.get("/auth/me")).status_code == 200, "nobody has told this process"
    await app.state.resources.redis.publish("labcrew:revoked", str(ada.id))
    async with hang_guard():
        await left
    assert (await ada.http.get("/auth/me")).status_code == 401
