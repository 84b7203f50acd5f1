"""Sign-in of browsers by a cookie, and the requests that a cookie is not believed in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI

from app.api.access.browser_requests import COOKIE, PLAIN_COOKIE

from .conftest import PASSWORD, PREFIX, User

PAGE = {"X-Labcrew": "1", "Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1"}


@asynccontextmanager
async def browser(
    app: FastAPI, base: str = "http://127.0.0.1", client: str = "127.0.0.1"
) -> AsyncIterator[httpx.AsyncClient]:
    """A browser's page, without its cookie jar: the library keeps no secure cookie of http."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(client, 1))
    headers = {**PAGE, "Origin": base}
    async with httpx.AsyncClient(transport=transport, base_url=f"{base}{PREFIX}", headers=headers) as http:
        yield http


async def signed_in_cookie(http: httpx.AsyncClient, user: User) -> str:
    answer = await http.post("/auth/session", json={"email": user.email, "password": PASSWORD})
    assert answer.status_code == 204, answer.text
    assert not answer.content
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "Path=/", "SameSite=strict"} <= set(cookie.split("; "))
    http.cookies.clear()
    return str(cookie)


def sent(cookie: str) -> dict[str, str]:
    return {"Cookie": cookie.partition(";")[0]}


async def test_a_cookie_signs_in_until_it_signs_out(app: FastAPI, ada: User) -> None:
    async with browser(app) as http:
        cookie = await signed_in_cookie(http, ada)
        assert cookie.startswith(f"{COOKIE}=web_")
        assert "Secure" in cookie
        assert (await http.get("/auth/me", headers=sent(cookie))).json()["email"] == ada.email
        assert (await http.get("/auth/api_keys", headers=sent(cookie))).status_code == 200

        ended = await http.delete("/auth/session", headers=sent(cookie))
        assert ended.status_code == 204
        assert ended.headers["set-cookie"].startswith(f'{COOKIE}="";')
        refused = await http.get("/auth/me", headers=sent(cookie))
        assert (refused.status_code, refused.json()["code"]) == (401, "browser_signed_out")


async def test_a_cookie_lasts_as_long_as_the_session_that_its_page_prolongs(app: FastAPI, ada: User) -> None:
    async with browser(app) as http:
        cookie = await signed_in_cookie(http, ada)
        again = await http.get("/auth/me", headers=sent(cookie))
        assert again.headers["set-cookie"] == cookie
    # A program that signs in by a token gets no cookie.
    assert "set-cookie" not in (await ada.http.get("/auth/me")).headers


async def test_a_cookie_is_not_believed_in_requests_of_other_sites(app: FastAPI, ada: User) -> None:
    async with browser(app) as http:
        cookie = sent(await signed_in_cookie(http, ada))
        goal = {"goal": "Predict what was not asked for."}
        for changed in (
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Sec-Fetch-Site": "none"},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://["},
            {"Origin": "http://127.0.0.1:8001"},
            {"X-Labcrew": ""},
        ):
            answer = await http.post("/lab/agent/sessions", json=goal, headers={**cookie, **changed})
            assert (answer.status_code, answer.json()["code"]) == (403, "cross_site_request"), changed
        for site, status in (("cross-site", 403), ("same-site", 403), ("none", 200), ("same-origin", 200)):
            answer = await http.get("/auth/me", headers={**cookie, "Sec-Fetch-Site": site})
            assert answer.status_code == status, site
        # A program's key is no cookie: nobody else can make a browser send it.
        key = (await ada.http.post("/auth/api_keys", json={"name": "n"})).json()["key"]
        by_key = {**cookie, "Sec-Fetch-Site": "cross-site", "Authorization": f"Bearer {key}"}
        assert (await http.get("/auth/me", headers=by_key)).status_code == 200


async def test_another_site_cannot_sign_a_browser_in(app: FastAPI, ada: User) -> None:
    async with browser(app) as http:
        account = {"email": ada.email, "password": PASSWORD}
        answer = await http.post("/auth/session", json=account, headers={"Sec-Fetch-Site": "cross-site"})
        assert (answer.status_code, answer.json()["code"]) == (403, "cross_site_request")
        wrong = await http.post("/auth/session", json={**account, "password": "wrong"})
        assert (wrong.status_code, wrong.json()["code"]) == (401, "sign_in_refused")
        assert "set-cookie" not in wrong.headers


async def test_a_code_signs_in_once_on_loopback(app: FastAPI, ada: User) -> None:
    codes = app.state.auth_services.sign_in_codes
    code = await codes.issue(ada.id)
    async with browser(app, client="192.0.2.7") as elsewhere:
        assert (await elsewhere.post("/auth/session", json={"code": code})).status_code == 401
    async with browser(app) as http:
        answer = await http.post("/auth/session", json={"code": code})
        assert answer.status_code == 204, answer.text
        cookie = sent(answer.headers["set-cookie"])
        assert (await http.get("/auth/me", headers=cookie)).json()["id"] == str(ada.id)
        again = await http.post("/auth/session", json={"code": code})
        assert (again.status_code, again.json()["code"]) == (401, "code_invalid")
        assert (await http.post("/auth/session", json={"code": uuid4().hex})).status_code == 401


async def test_a_plain_cookie_is_for_networks_without_tls_only(
    app: FastAPI, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with browser(app, base="http://lab.local") as http:
        cookie = await signed_in_cookie(http, ada)
        assert cookie.startswith(f"{PLAIN_COOKIE}=web_")
        assert "Secure" not in cookie
        assert (await http.get("/auth/me", headers=sent(cookie))).status_code == 200
        monkeypatch.setattr(
            app.state, "settings", app.state.settings.model_copy(update={"labcrew_env": "production"})
        )
        assert (await http.get("/auth/me", headers=sent(cookie))).status_code == 401
        assert (await signed_in_cookie(http, ada)).startswith(f"{COOKIE}=")
        code = await app.state.auth_services.sign_in_codes.issue(ada.id)
    async with browser(app) as http:
        assert (await http.post("/auth/session", json={"code": code})).status_code == 401
