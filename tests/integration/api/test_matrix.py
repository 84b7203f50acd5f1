"""Every operation of the OpenAPI document, with every credential that should not open it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import update

from app.api.access.operation_scopes import SIGNED_IN, scope_of
from app.auth.principal import ALL_SCOPES, Scope
from app.auth.tokens import Claims
from app.db.tables import ApiKeyRow, UserRow

from .conftest import PASSWORD, User, client_of
from .test_ownership import BODIES, CLOSED, OPEN, OPERATIONS, PLAIN, Operation

ENDLESS = {"stream_many_sessions": {"watch": "no cursor"}}
"""Queries that are refused once the credential opened: the answers of these operations have no end."""


@dataclass(frozen=True)
class Bad:
    """A credential, and what each operation must say to it."""

    text: str
    status: int
    code: str


async def a_key(user: User, *scopes: Scope, days: int | None = None) -> str:
    wanted = {"name": "program", "scopes": [*scopes], "expires_in_days": days}
    made = await user.http.post("/auth/api_keys", json={k: v for k, v in wanted.items() if v})
    assert made.status_code == 201, made.text
    return str(made.json()["key"])


async def a_signed_out_token(app: FastAPI, user: User) -> Bad:
    account = {"email": user.email, "password": PASSWORD}
    token = (await client_of(app).post("/auth/token", json=account)).json()["access_token"]
    await client_of(app, token).post("/auth/logout")
    return Bad(token, 401, "token_revoked")


async def an_expired_token(app: FastAPI, user: User) -> Bad:
    claims = Claims(uuid4(), user.id, uuid4(), datetime.now(UTC) - timedelta(seconds=1))
    return Bad(app.state.auth_services.signer.sign("access", claims), 401, "token_expired")


async def a_refresh_token(app: FastAPI, user: User) -> Bad:
    return Bad(user.tokens["refresh_token"], 401, "token_invalid")


async def a_revoked_key(app: FastAPI, user: User) -> Bad:
    key = await a_key(user)
    (listed,) = (await user.http.get("/auth/api_keys")).json()["items"]
    await user.http.delete(f"/auth/api_keys/{listed['id']}")
    return Bad(key, 401, "key_invalid")


async def an_expired_key(app: FastAPI, user: User) -> Bad:
    key = await a_key(user, days=1)
    async with app.state.resources.open_uow() as uow:
        await uow.db.execute(update(ApiKeyRow).values(expires_at=ApiKeyRow.created_at))
    return Bad(key, 401, "key_invalid")


async def a_token_of_a_disabled_user(app: FastAPI, user: User) -> Bad:
    await _disable(app, user)
    return Bad(user.tokens["access_token"], 401, "token_revoked")


async def a_key_of_a_disabled_user(app: FastAPI, user: User) -> Bad:
    key = await a_key(user)
    await _disable(app, user)
    return Bad(key, 401, "key_invalid")


async def _disable(app: FastAPI, user: User) -> None:
    async with app.state.resources.open_uow() as uow:
        await uow.db.execute(
            update(UserRow).where(UserRow.id == user.id).values(disabled_at=UserRow.created_at)
        )
    await app.state.auth_services.revocations.announce(user.id)


MAKERS: list[Callable[[FastAPI, User], Awaitable[Bad]]] = [
    a_signed_out_token,
    an_expired_token,
    a_refresh_token,
    a_revoked_key,
    an_expired_key,
    a_token_of_a_disabled_user,
    a_key_of_a_disabled_user,
]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
async def test_no_operation_opens_to(
    app: FastAPI, ada: User, make: Callable[[FastAPI, User], Awaitable[Bad]]
) -> None:
    bad = await make(app, ada)
    async with client_of(app, bad.text) as http:
        answers = {operation.id: await ask(http, operation) for operation in CLOSED}
    expected = (bad.status, bad.code)
    assert {name: said(answer) for name, answer in answers.items()} == dict.fromkeys(answers, expected)


async def test_a_key_without_the_scope_is_told_which_it_lacks(app: FastAPI, ada: User) -> None:
    keys = {scope: await a_key(ada, *(ALL_SCOPES - {scope})) for scope in Scope}
    for operation in CLOSED:
        needed = needs(operation)
        async with client_of(app, keys[needed or Scope.ADMIN]) as http:
            answer = await ask(http, operation)
        code = "scope_missing" if needed else "sign_in_required"
        assert (operation.id, *said(answer)) == (operation.id, 403, code)
        assert answer.json().get("scope") == needed


async def test_a_key_with_no_other_scope_is_enough(app: FastAPI, ada: User) -> None:
    keys = {scope: await a_key(ada, scope) for scope in Scope}
    for operation in CLOSED:
        needed = needs(operation)
        if needed is None:
            continue
        async with client_of(app, keys[needed]) as http:
            answer = await ask(http, operation)
        if "admin" in operation.spec["tags"]:  # the key's owner is none
            assert (operation.id, *said(answer)) == (operation.id, 403, "admin_required")
        else:
            assert (operation.id, answer.status_code) != (operation.id, 403)
            assert answer.status_code < 500, answer.text


async def test_what_is_for_admins_is_for_nobody_else(app: FastAPI, ada: User, eve: User) -> None:
    for operation in CLOSED:
        if "admin" in operation.spec["tags"]:
            answer = await ask(eve.http, operation, ada.id)
            assert (operation.id, *said(answer)) == (operation.id, 403, "admin_required")


def test_the_document_says_which_scope_each_operation_needs() -> None:
    wrong = []
    for operation in OPERATIONS:
        schemes = {name: scopes for each in operation.spec.get("security", []) for name, scopes in each.items()}
        needed = needs(operation)
        open_, keyless = operation.id in OPEN, operation.id in SIGNED_IN
        by_key = {} if keyless else {"key": [needed]}
        expected = {} if open_ else {"bearer": [], **by_key, "browser": []}
        wrong += [] if schemes == expected else [(operation.id, schemes, expected)]
    assert wrong == []


def needs(operation: Operation) -> Scope | None:
    return scope_of(operation.id, operation.method, operation.spec["tags"])


async def ask(http: httpx.AsyncClient, operation: Operation, id_: UUID | None = None) -> httpx.Response:
    path = operation.path.format(**dict.fromkeys(operation.ids, id_ or uuid4()), **PLAIN)
    query = ENDLESS.get(operation.id)
    return await http.request(operation.method, path, params=query, json=BODIES.get(operation.id, {}))


def said(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json().get("code")
