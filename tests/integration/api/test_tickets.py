"""Tickets whose credential, user or session changed after they were issued."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from redis.asyncio import Redis
from sqlalchemy import delete, update
from sqlalchemy.ext.asyncio import create_async_engine

from app.api.streams.socket_protocol import Close
from app.auth.authenticator import Authenticator
from app.auth.revocations import Revocations
from app.auth.tickets import Tickets
from app.db.tables import ApiKeyRow, SessionRow, UserRow
from app.db.unit_of_work import unit_of_work

from .conftest import PASSWORD, NewUser, User, client_of
from .test_sessions import SESSIONS
from .test_stream import Server, Stage, closed, heard, server, session, stage

__all__ = ["server", "session", "stage"]


@dataclass(frozen=True)
class Case:
    """One ticket of a user, by an API key or an access token, and the means to change what is behind it."""

    app: FastAPI
    user: User
    session: str
    query: str
    key: dict[str, Any]

    async def write(self, statement: Any) -> None:
        """Change a row as another process would that nobody here hears of: nothing remembered is forgotten."""
        async with self.app.state.resources.open_uow() as uow:
            await uow.db.execute(statement)

    async def set_key(self, **columns: Any) -> None:
        await self.write(update(ApiKeyRow).where(ApiKeyRow.id == self.key["id"]).values(**columns))

    async def set_user(self, **columns: Any) -> None:
        await self.write(update(UserRow).where(UserRow.id == self.user.id).values(**columns))


async def ticket_of(http: Any, session: str) -> str:
    issued = await http.post(f"{SESSIONS}/{session}/ticket")
    assert issued.status_code == 201, issued.text
    return f"?ticket={issued.json()['ticket']}"


@pytest.fixture
async def by_key(app: FastAPI, ada: User, session: str, stage: Stage) -> Case:
    await stage.say("for eyes that are allowed")
    key = (await ada.http.post("/auth/api_keys", json={"name": "n", "scopes": ["read", "sessions"]})).json()
    async with client_of(app, key["key"]) as program:
        query = await ticket_of(program, session)
    return Case(app, ada, session, query, key)


@pytest.fixture
async def by_token(app: FastAPI, ada: User, session: str, stage: Stage) -> Case:
    await stage.say("for eyes that are allowed")
    return Case(app, ada, session, await ticket_of(ada.http, session), {})


@pytest.fixture(autouse=True)
def _deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that hears of no revocation, as one whose Redis is away."""

    async def unheard(self: Revocations, user_id: object) -> None: ...

    monkeypatch.setattr(Revocations, "announce", unheard)


async def revoke_key(case: Case) -> None:
    assert (await case.user.http.delete(f"/auth/api_keys/{case.key['id']}")).status_code == 204


async def end_key(case: Case) -> None:
    await case.set_key(expires_at=datetime.now(UTC) - timedelta(seconds=1))


async def delete_key(case: Case) -> None:
    await case.write(delete(ApiKeyRow).where(ApiKeyRow.id == case.key["id"]))


async def take_read(case: Case) -> None:
    await case.set_key(scopes=["sessions"])


async def sign_out(case: Case) -> None:
    assert (await case.user.http.post("/auth/logout")).status_code == 204


async def reuse_refresh_token(case: Case) -> None:
    async with client_of(case.app) as http:
        body = {"refresh_token": case.user.tokens["refresh_token"]}
        codes = [(await http.post("/auth/refresh", json=body)).status_code for _ in range(2)]
    assert codes == [200, 401]


async def disable(case: Case) -> None:
    await case.set_user(disabled_at=datetime.now(UTC))


async def delete_account(case: Case) -> None:
    deletion = await case.user.http.post("/auth/me/deletion", json={"password": PASSWORD})
    assert deletion.status_code == 202, deletion.text


Change = Callable[[Case], Awaitable[None]]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (revoke_key, Close.NOT_SIGNED_IN),
        (end_key, Close.NOT_SIGNED_IN),
        (delete_key, Close.NOT_SIGNED_IN),
        (disable, Close.NOT_SIGNED_IN),
        (delete_account, Close.NOT_SIGNED_IN),
        (take_read, Close.NOT_ALLOWED),
    ],
)
async def test_a_ticket_of_a_key_opens_nothing_after(
    server: Server, by_key: Case, change: Change, code: Close
) -> None:
    await change(by_key)
    async with server.open(by_key.session, query=by_key.query) as client:
        assert await closed(client) == (code, [])


@pytest.mark.parametrize("change", [sign_out, reuse_refresh_token, disable, delete_account])
async def test_a_ticket_of_a_token_opens_nothing_after(server: Server, by_token: Case, change: Change) -> None:
    await change(by_token)
    async with server.open(by_token.session, query=by_token.query) as client:
        assert await closed(client) == (Close.NOT_SIGNED_IN, [])


async def test_a_command_sent_at_once_with_a_ticket_of_a_revoked_key_does_nothing(
    server: Server, by_key: Case
) -> None:
    await revoke_key(by_key)
    async with server.open(by_key.session, query=by_key.query) as client:
        await client.send(json.dumps({"type": "cancel"}))
        assert await closed(client) == (Close.NOT_SIGNED_IN, [])
    status = (await by_key.user.http.get(f"{SESSIONS}/{by_key.session}")).json()["status"]
    assert status != "cancelling"


async def test_a_ticket_of_a_session_that_went_or_changed_hands_opens_nothing(
    server: Server, by_token: Case, new_user: NewUser
) -> None:
    other = await new_user()
    moved = update(SessionRow).where(SessionRow.id == by_token.session)
    await by_token.write(moved.values(owner_id=other.id))
    async with server.open(by_token.session, query=by_token.query) as client:
        assert await closed(client) == (Close.NOT_FOUND, [])


async def test_a_ticket_has_the_scopes_of_its_key_as_they_are_now(server: Server, by_key: Case) -> None:
    await by_key.set_key(scopes=["read"])
    async with server.open(by_key.session, query=by_key.query) as client:
        await heard(client, 1)
        await client.send(json.dumps({"type": "cancel"}))
        assert (await heard(client, 1))[0]["code"] == "scope_missing"


async def test_a_ticket_has_the_quotas_of_its_user_as_they_are_now(server: Server, by_token: Case) -> None:
    async with server.open(by_token.session, by_token.user) as first:
        await heard(first, 1)
        await by_token.set_user(quotas={"sockets": 1})
        async with server.open(by_token.session, query=by_token.query) as client:
            assert await closed(client) == (Close.TOO_MANY, [])


async def test_a_command_of_a_credential_that_was_revoked_elsewhere_closes_the_socket(
    server: Server, by_key: Case
) -> None:
    async with server.open(by_key.session, query=by_key.query) as client:
        await heard(client, 1)
        await by_key.set_key(revoked_at=datetime.now(UTC))
        await client.send(json.dumps({"type": "cancel"}))
        assert await closed(client) == (Close.NOT_SIGNED_IN, [])
    status = (await by_key.user.http.get(f"{SESSIONS}/{by_key.session}")).json()["status"]
    assert status != "cancelling"


async def test_a_ticket_that_was_refused_works_no_second_time(server: Server, by_key: Case) -> None:
    await by_key.set_key(scopes=["sessions"])
    async with server.open(by_key.session, query=by_key.query) as client:
        assert await closed(client) == (Close.NOT_ALLOWED, [])
    await by_key.set_key(scopes=["read"])
    async with server.open(by_key.session, query=by_key.query) as client:
        assert await closed(client) == (Close.NOT_SIGNED_IN, [])


async def test_without_redis_a_ticket_opens_nothing(server: Server, by_token: Case) -> None:
    redis = Redis.from_url("unix:///nowhere/valkey.sock")
    by_token.app.state.auth_services = replace(by_token.app.state.auth_services, tickets=Tickets(redis))
    async with server.open(by_token.session, query=by_token.query) as client:
        assert await closed(client) == (Close.UNAVAILABLE, [])
    await redis.aclose()


async def test_without_postgres_a_ticket_opens_nothing(server: Server, by_token: Case) -> None:
    engine = create_async_engine("postgresql+asyncpg://lab@/lab?host=/nowhere")
    away = Authenticator(
        by_token.app.state.auth_services.signer, unit_of_work(engine, by_token.app.state.resources.send)
    )
    by_token.app.state.auth_services = replace(by_token.app.state.auth_services, authenticator=away)
    async with server.open(by_token.session, query=by_token.query) as client:
        assert await closed(client) == (Close.UNAVAILABLE, [])
    await engine.dispose()


async def test_a_ticket_says_nothing_of_what_its_credential_may_do(
    app: FastAPI, by_key: Case, session: str
) -> None:
    (name,) = await app.state.resources.redis.keys("ticket:*")
    stored = json.loads(await app.state.resources.redis.get(name))
    assert stored["session"] == session
    assert set(stored["credential"]) == {"kind", "user_id", "origin", "expires_at"}
