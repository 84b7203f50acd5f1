"""Admins: accounts, quotas, and what is written down about them."""

from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import update

from app.db.tables import UserRow

from .conftest import PASSWORD, User, client_of


@pytest.fixture
async def admin(app: FastAPI, eve: User) -> User:
    async with app.state.resources.open_uow() as uow:
        await uow.db.execute(update(UserRow).where(UserRow.id == eve.id).values(role="admin"))
    await app.state.auth_services.revocations.announce(eve.id)
    return eve


async def test_an_admin_finds_accounts_by_a_part_of_their_address(admin: User, ada: User) -> None:
    everybody = (await admin.http.get("/admin/users")).json()
    assert {one["email"] for one in everybody["items"]} == {ada.email, admin.email}
    found = (await admin.http.get("/admin/users", params={"email": ada.email[3:9].upper()})).json()
    assert [(one["id"], one["disabled_at"]) for one in found["items"]] == [(str(ada.id), None)]
    assert "password" not in str(everybody)
    assert (await admin.http.get("/admin/users", params={"email": "%"})).json()["total"] == 0


async def test_a_disabled_account_is_out_until_it_is_enabled(
    app: FastAPI, admin: User, ada: User, anonymous: httpx.AsyncClient
) -> None:
    key = (await ada.http.post("/auth/api_keys", json={"name": "nightly"})).json()["key"]
    disabled = await admin.http.post(f"/admin/users/{ada.id}/disable")
    assert disabled.json()["disabled_at"] is not None
    refresh = {"refresh_token": ada.tokens["refresh_token"]}
    async with client_of(app, key) as program:
        assert (await ada.http.get("/auth/me")).status_code == 401
        assert (await program.get("/auth/me")).status_code == 401
        assert (await anonymous.post("/auth/refresh", json=refresh)).status_code == 401
        await admin.http.post(f"/admin/users/{ada.id}/enable")
        assert (await program.get("/auth/me")).status_code == 200
        assert (await ada.http.get("/auth/me")).status_code == 401, "its tokens were revoked for good"
    signed_in = await anonymous.post("/auth/token", json={"email": ada.email, "password": PASSWORD})
    assert signed_in.status_code == 200


async def test_admins_do_not_lock_themselves_out(admin: User) -> None:
    refused = await admin.http.post(f"/admin/users/{admin.id}/disable")
    assert (refused.status_code, refused.json()["code"]) == (409, "own_account")


@pytest.mark.parametrize(("method", "path"), [("POST", "disable"), ("POST", "enable"), ("PUT", "quotas")])
async def test_an_unknown_account_is_not_found(admin: User, method: str, path: str) -> None:
    answer = await admin.http.request(method, f"/admin/users/{uuid4()}/{path}", json={})
    assert (answer.status_code, answer.json()["code"]) == (404, "user_not_found")


async def test_quotas_of_one_user_hold_at_once_and_for_nobody_else(admin: User, ada: User) -> None:
    assert (await ada.http.get("/auth/me")).status_code == 200
    given = await admin.http.put(f"/admin/users/{ada.id}/quotas", json={"requests": "2/minute", "sessions": 0})
    assert given.json()["quotas"] == {
        "requests": "2/minute",
        "views": None,
        "uploads": None,
        "compute": None,
        "sessions": 0,
        "running_sessions": None,
        "running_turns": None,
        "sockets": None,
        "stored_mb": None,
    }
    answers = [await ada.http.get("/auth/me") for _ in range(4)]
    assert answers[-1].status_code == 429
    assert (await admin.http.get("/auth/me")).status_code == 200


@pytest.mark.parametrize(
    "wish", [{"requests": "often"}, {"sockets": -1}, {"surprise": 1}, {"stored_mb": 2**31}]
)
async def test_quotas_that_are_none_are_refused(admin: User, ada: User, wish: dict[str, object]) -> None:
    refused = await admin.http.put(f"/admin/users/{ada.id}/quotas", json=wish)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")


async def test_the_trail_says_which_admin_did_what_to_whom(admin: User, ada: User) -> None:
    await admin.http.put(f"/admin/users/{ada.id}/quotas", json={"sessions": 3})
    await admin.http.post(f"/admin/users/{ada.id}/disable")
    await admin.http.post(f"/admin/users/{ada.id}/disable")
    trail = (await admin.http.get("/admin/audit", params={"user_id": str(ada.id)})).json()
    assert [(one["actor"], one["action"]) for one in trail["items"]] == [
        ("admin", "user_disabled"),
        ("admin", "quotas_set"),
        ("user", "user_registered"),
    ]
    assert trail["items"][1]["detail"] == {"by": str(admin.id), "quotas": {"sessions": 3}}
