"""Redis holds the moment only: without it the API goes on, and says what it cannot do."""

from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest
from fastapi import FastAPI
from redis.asyncio import Redis

from app.auth.throttle import Throttle
from app.auth.tickets import Tickets

from .conftest import PASSWORD, User
from .test_sessions import create


@pytest.fixture
async def away(app: FastAPI, ada: User) -> AsyncIterator[None]:
    redis = Redis.from_url("unix:///nowhere/valkey.sock")
    auth_services = app.state.auth_services
    app.state.auth_services = replace(auth_services, throttle=Throttle(redis, 60), tickets=Tickets(redis))
    yield
    await redis.aclose()


@pytest.mark.usefixtures("away")
async def test_signing_in_goes_on(ada: User, anonymous: httpx.AsyncClient) -> None:
    account = {"email": ada.email, "password": PASSWORD}
    assert (await anonymous.post("/auth/token", json=account)).status_code == 200


@pytest.mark.usefixtures("away")
async def test_a_ticket_is_refused_with_a_reason(ada: User) -> None:
    session = await create(ada)
    refused = await ada.http.post(f"/lab/agent/sessions/{session}/ticket")
    assert (refused.status_code, refused.json()["code"]) == (503, "tickets_unavailable")
