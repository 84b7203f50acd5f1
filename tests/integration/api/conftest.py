"""The real application on real servers, and users who are signed in."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from tests.patience import HANG_GUARD_S

from app.api.status import readiness
from app.main import create_app
from app.observability.logging import configure_logging
from app.settings import Settings, load_settings
from app.tasks import cancel_and_wait
from app.worker.event_loop import WorkerServices
from app.worker.graphs import pipeline_graphs

from .mortal_workers import keeping, start_nursery

PREFIX = "/api/v1"
PASSWORD = "correct horse battery"


@pytest.fixture(scope="session", autouse=True)
def _plain_logs() -> None:
    """Outside `configure_logging` structlog draws every local variable of a traceback: seconds for each."""
    configure_logging("WARNING", "console")


@pytest.fixture(autouse=True)
def _patient_readiness(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `/readyz` wait for Postgres and Redis until they hang."""
    monkeypatch.setattr(readiness, "PROBE_TIMEOUT_S", HANG_GUARD_S)


@pytest.fixture
def settings(database_url: str, redis_url: str, cells_socket: Path, tmp_path: Path) -> Settings:
    return load_settings(
        _env_file=None,
        database_url=database_url,
        redis_url=redis_url,
        cells_socket=cells_socket,
        labcrew_home=tmp_path / "home",
        access_token_seconds=24 * 3600,  # a test on a slow machine outlives the usual quarter of an hour
    )


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    app = create_app(settings, hasher=PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1))
    async with app.router.lifespan_context(app):
        yield app


@dataclass(frozen=True)
class User:
    """`http` sends this user's access token."""

    id: UUID
    email: str
    tokens: dict[str, str]
    http: httpx.AsyncClient


def client_of(app: FastAPI, token: str | None = None) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url=f"http://lab{PREFIX}", headers=headers)


@pytest.fixture
async def anonymous(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(app) as http:
        yield http


NewUser = Callable[[], Awaitable[User]]


@pytest.fixture
async def new_user(app: FastAPI, anonymous: httpx.AsyncClient) -> NewUser:
    async def make() -> User:
        account = {"email": f"{uuid4().hex}@example.com", "password": PASSWORD}
        registered = await anonymous.post("/auth/register", json=account)
        assert registered.status_code == 201, registered.text
        tokens = (await anonymous.post("/auth/token", json=account)).json()
        return User(
            UUID(registered.json()["id"]), account["email"], tokens, client_of(app, tokens["access_token"])
        )

    return make


@pytest.fixture
async def ada(new_user: NewUser) -> User:
    return await new_user()


@pytest.fixture
async def eve(new_user: NewUser) -> User:
    return await new_user()


@pytest.fixture
async def services(app: FastAPI) -> WorkerServices:
    resources = app.state.resources
    return WorkerServices.assemble(resources, pipeline_graphs(resources))


@pytest.fixture
async def worker(app: FastAPI, services: WorkerServices) -> AsyncIterator[None]:
    """Drives every session that is due, as a worker does."""
    due = "select id from sessions where ended_at is null and lease_until is null and wake > seen"

    async def work() -> None:
        while True:
            for session_id in await app.state.resources.database.column(due):
                await services.runner.advance(session_id)
            await asyncio.sleep(0.005)

    task = asyncio.create_task(work())
    yield
    # More than once: redis-py takes a cancellation for a timeout of its own as it sends a command.
    await cancel_and_wait(task)
    if not task.cancelled():
        task.result()  # its own failure is the test's


@pytest.fixture(scope="session")
def nursery() -> Iterator["subprocess.Popen[str]"]:
    """The process that forks workers which are killed."""
    with start_nursery() as process:
        yield process


@pytest.fixture
def folder(nursery: "subprocess.Popen[str]", settings: Settings, tmp_path: Path) -> Iterator[Path]:
    """The folder of a worker that is killed at statements: its `pid`, its log and the places of kills."""
    with keeping(nursery, settings, tmp_path / "worker") as folder:
        yield folder
