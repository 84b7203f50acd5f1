import asyncio
from uuid import UUID

import httpx
import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from sqlalchemy import select, update

from app.db.tables import ApiKeyRow, AuditRow, RefreshTokenRow, UserRow

from .conftest import PASSWORD, User, client_of


async def refresh(http: httpx.AsyncClient, token: str) -> httpx.Response:
    return await http.post("/auth/refresh", json={"refresh_token": token})


async def test_a_user_registers_signs_in_and_is_known(ada: User) -> None:
    me = (await ada.http.get("/auth/me")).json()
    assert (me["id"], me["email"], me["role"]) == (str(ada.id), ada.email, "user")
    assert "password" not in str(me)


async def test_an_address_has_one_account_whatever_its_case(ada: User, anonymous: httpx.AsyncClient) -> None:
    again = await anonymous.post("/auth/register", json={"email": ada.email.upper(), "password": PASSWORD})
    assert (again.status_code, again.json()["code"]) == (409, "email_taken")


@pytest.mark.parametrize("path", ["/auth/register", "/auth/token"])
async def test_a_password_that_is_no_text_is_refused(anonymous: httpx.AsyncClient, path: str) -> None:
    body = r'{"email": "x@example.com", "password": "\ud800 and nine more"}'
    refused = await anonymous.post(path, content=body, headers={"Content-Type": "application/json"})
    assert (refused.status_code, refused.json()["code"]) == (422, "text_not_storable")


async def test_a_password_is_stored_as_argon2id_only(app: FastAPI, ada: User) -> None:
    async with app.state.resources.open_uow() as uow:
        stored = await uow.db.scalar(select(UserRow.password_hash).where(UserRow.id == ada.id))
    assert stored.startswith("$argon2id$")
    assert PASSWORD not in stored


async def test_signing_in_does_not_tell_who_has_an_account(ada: User, anonymous: httpx.AsyncClient) -> None:
    wrong = await anonymous.post("/auth/token", json={"email": ada.email, "password": "not this one"})
    unknown = await anonymous.post("/auth/token", json={"email": "x@example.com", "password": "not this one"})
    assert wrong.status_code == unknown.status_code == 401
    without_id = [{**answer.json(), "request_id": None} for answer in (wrong, unknown)]
    assert without_id[0] == without_id[1]


async def test_a_disabled_user_cannot_sign_in_or_refresh(
    app: FastAPI, ada: User, anonymous: httpx.AsyncClient
) -> None:
    async with app.state.resources.open_uow() as uow:
        await uow.db.execute(update(UserRow).values(disabled_at=UserRow.created_at))
    signed_in = await anonymous.post("/auth/token", json={"email": ada.email, "password": PASSWORD})
    assert signed_in.json()["code"] == "sign_in_refused"
    assert (await refresh(anonymous, ada.tokens["refresh_token"])).status_code == 401
    app.state.auth_services.authenticator.invalidate_user(ada.id)
    assert (await ada.http.get("/auth/me")).json()["code"] == "token_revoked"


async def test_guessing_is_slowed_down(ada: User, app: FastAPI, anonymous: httpx.AsyncClient) -> None:
    guess = {"email": ada.email, "password": "guess"}
    codes = [
        (await anonymous.post("/auth/token", json=guess)).status_code
        for _ in range(app.state.auth_services.config.sign_in_tries + 1)
    ]
    assert codes[:-1] == [401] * app.state.auth_services.config.sign_in_tries
    assert codes[-1] == 429
    right = await anonymous.post("/auth/token", json={"email": ada.email, "password": PASSWORD})
    assert (right.status_code, right.json()["code"]) == (429, "too_many_tries")
    assert int(right.headers["retry-after"]) > 0


async def test_many_guesses_at_once_are_no_more_than_many_in_turn(
    ada: User, app: FastAPI, anonymous: httpx.AsyncClient
) -> None:
    guess = {"email": ada.email, "password": "guess"}
    tries = app.state.auth_services.config.sign_in_tries
    answers = await asyncio.gather(*(anonymous.post("/auth/token", json=guess) for _ in range(tries + 10)))
    assert sorted(answer.status_code for answer in answers) == [401] * tries + [429] * 10


async def test_a_user_who_signs_in_often_is_not_slowed_down(
    ada: User, app: FastAPI, anonymous: httpx.AsyncClient
) -> None:
    account = {"email": ada.email, "password": PASSWORD}
    for _ in range(app.state.auth_services.config.sign_in_tries + 1):
        assert (await anonymous.post("/auth/token", json=account)).status_code == 200


async def test_a_refresh_token_gives_a_new_pair_that_works(
    app: FastAPI, ada: User, anonymous: httpx.AsyncClient
) -> None:
    pair = (await refresh(anonymous, ada.tokens["refresh_token"])).json()
    assert pair["refresh_token"] != ada.tokens["refresh_token"]
    assert (await client_of(app, pair["access_token"]).get("/auth/me")).status_code == 200


async def test_a_reused_refresh_token_revokes_its_whole_family(
    app: FastAPI, ada: User, anonymous: httpx.AsyncClient
) -> None:
    second = (await refresh(anonymous, ada.tokens["refresh_token"])).json()
    third = (await refresh(anonymous, second["refresh_token"])).json()
    reused = await refresh(anonymous, ada.tokens["refresh_token"])
    assert (reused.status_code, reused.json()["code"]) == (401, "token_revoked")
    assert (await refresh(anonymous, third["refresh_token"])).status_code == 401
    assert (await client_of(app, third["access_token"]).get("/auth/me")).status_code == 401
    async with app.state.resources.open_uow() as uow:
        assert not (await uow.db.scalars(select(RefreshTokenRow).filter_by(revoked_at=None))).all()
        actions = (await uow.db.scalars(select(AuditRow.action).where(AuditRow.owner_id == ada.id))).all()
    assert "refresh_token_reused" in actions


async def test_of_many_refreshes_at_once_one_wins(ada: User, anonymous: httpx.AsyncClient) -> None:
    answers = await asyncio.gather(*(refresh(anonymous, ada.tokens["refresh_token"]) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] + [401] * 7


async def test_another_family_is_not_touched_by_a_revocation(ada: User, anonymous: httpx.AsyncClient) -> None:
    other = (await anonymous.post("/auth/token", json={"email": ada.email, "password": PASSWORD})).json()
    for _ in range(2):
        await refresh(anonymous, ada.tokens["refresh_token"])
    assert (await refresh(anonymous, other["refresh_token"])).status_code == 200


async def test_signing_out_ends_the_access_token_and_its_chain(ada: User, anonymous: httpx.AsyncClient) -> None:
    assert (await ada.http.post("/auth/logout")).status_code == 204
    assert (await ada.http.get("/auth/me")).status_code == 401
    assert (await refresh(anonymous, ada.tokens["refresh_token"])).status_code == 401


@pytest.mark.parametrize("header", ["Authorization", "X-API-Key"])
async def test_an_api_key_signs_in_until_it_is_revoked(app: FastAPI, ada: User, header: str) -> None:
    made = (await ada.http.post("/auth/api_keys", json={"name": "nightly"})).json()
    credential = f"Bearer {made['key']}" if header == "Authorization" else made["key"]
    async with client_of(app) as program:
        program.headers[header] = credential
        assert (await program.get("/auth/me")).json()["id"] == str(ada.id)
        assert (await ada.http.delete(f"/auth/api_keys/{made['id']}")).status_code == 204
        refused = await program.get("/auth/me")
    assert (refused.status_code, refused.json()["code"]) == (401, "key_invalid")


async def test_a_key_is_shown_once_and_stored_hashed(app: FastAPI, ada: User) -> None:
    made = (await ada.http.post("/auth/api_keys", json={"name": "nightly"})).json()
    listed = (await ada.http.get("/auth/api_keys")).json()
    assert [key["prefix"] for key in listed["items"]] == [made["prefix"]]
    assert made["key"] not in str(listed)
    async with app.state.resources.open_uow() as uow:
        row = await uow.db.get(ApiKeyRow, UUID(made["id"]))
    assert made["key"] not in str(vars(row))


async def test_a_key_cannot_make_keys(app: FastAPI, ada: User) -> None:
    made = (await ada.http.post("/auth/api_keys", json={"name": "nightly"})).json()
    refused = await client_of(app, made["key"]).post("/auth/api_keys", json={"name": "for ever"})
    assert (refused.status_code, refused.json()["code"]) == (403, "sign_in_required")


async def test_nobody_else_can_revoke_a_key(ada: User, eve: User) -> None:
    made = (await ada.http.post("/auth/api_keys", json={"name": "nightly"})).json()
    assert (await eve.http.delete(f"/auth/api_keys/{made['id']}")).status_code == 404
    assert (await eve.http.get("/auth/api_keys")).json()["total"] == 0


async def test_an_expired_key_is_refused(app: FastAPI, ada: User) -> None:
    made = (await ada.http.post("/auth/api_keys", json={"name": "nightly", "expires_in_days": 1})).json()
    async with app.state.resources.open_uow() as uow:
        await uow.db.execute(update(ApiKeyRow).values(expires_at=ApiKeyRow.created_at))
    assert (await client_of(app, made["key"]).get("/auth/me")).status_code == 401


async def test_the_trail_says_who_registered_and_who_made_a_key(app: FastAPI, ada: User) -> None:
    await ada.http.post("/auth/api_keys", json={"name": "nightly"})
    async with app.state.resources.open_uow() as uow:
        actions = (await uow.db.scalars(select(AuditRow.action).order_by(AuditRow.id))).all()
    assert actions == ["user_registered", "key_created"]


async def test_a_weaker_hash_is_replaced_at_the_next_sign_in(
    app: FastAPI, ada: User, anonymous: httpx.AsyncClient
) -> None:
    weaker = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash(PASSWORD)
    async with app.state.resources.open_uow() as uow:
        await uow.db.execute(update(UserRow).values(password_hash=weaker))
    for _ in range(2):
        signed_in = await anonymous.post("/auth/token", json={"email": ada.email, "password": PASSWORD})
        assert signed_in.status_code == 200
    async with app.state.resources.open_uow() as uow:
        stored = await uow.db.scalar(select(UserRow.password_hash))
    assert not app.state.auth_services.passwords.needs_rehash(stored)
