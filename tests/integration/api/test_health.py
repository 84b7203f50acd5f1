import re
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine
from tests.provider_wires import KEY, serving_wires

from app.db.engine import create_engine
from app.db.unit_of_work import unit_of_work
from app.llm.config import ChatConfig
from app.llm.model_probe import ModelHealth
from app.sandbox.provider.cell_provider import ProcessProvider
from app.sandbox.provider.process_config import ProcessConfig
from app.settings import Settings

from .conftest import User, client_of


async def test_a_live_process_says_so(anonymous: httpx.AsyncClient) -> None:
    assert (await anonymous.get("/healthz")).json() == {"status": "ok"}


async def test_health_is_found_outside_the_version_too(app: FastAPI) -> None:
    async with client_of(app) as http:
        http.base_url = httpx.URL("http://lab")
        for path in ("/healthz", "/readyz", "/metrics", "/docs", "/openapi.json"):
            assert (await http.get(path)).status_code == 200


async def test_readiness_names_what_is_missing_and_no_address(
    app: FastAPI, settings: Settings, anonymous: httpx.AsyncClient
) -> None:
    ready = (await anonymous.get("/readyz")).json()
    assert (ready["status"], ready["unavailable"]) == ("limited", {}), "no worker runs here"
    away = Redis.from_url("unix:///nowhere/valkey.sock")
    app.state.resources = replace(app.state.resources, redis=away)
    answer = await anonymous.get("/readyz")
    await away.aclose()
    assert answer.status_code == 503
    assert list(answer.json()["unavailable"]) == ["redis"]
    assert "nowhere" not in answer.text
    assert str(settings.database_url) not in answer.text


async def test_readiness_says_whether_untrusted_code_may_run(
    app: FastAPI, anonymous: httpx.AsyncClient
) -> None:
    tier = (await app.state.resources.cells.isolation()).tier
    told = (await anonymous.get("/readyz")).json()["untrusted_code"]
    assert (told["status"], told["tier"], told["refusal"]) == ("allowed", tier, None)


async def test_readiness_waits_for_no_cells(
    app: FastAPI, settings: Settings, anonymous: httpx.AsyncClient, tmp_path: Path
) -> None:
    nowhere = ProcessProvider(ProcessConfig(tmp_path / "cells", socket=tmp_path / "nobody-listens"))
    app.state.resources = replace(app.state.resources, cells=nowhere)
    ready = (await anonymous.get("/readyz")).json()
    await nowhere.close()
    assert (ready["status"], ready["untrusted_code"]["status"]) == ("limited", "unknown")


@pytest.mark.parametrize(
    "harm", ["alter table sessions rename to gone", "update alembic_version set version_num = '0000'"]
)
async def test_a_database_without_this_schema_says_what_to_do(
    harm: str, app: FastAPI, anonymous: httpx.AsyncClient
) -> None:
    await app.state.resources.database.rows(harm)
    answer = await anonymous.get("/readyz")
    assert answer.status_code == 503
    assert "labcrew migrate" in answer.json()["unavailable"]["schema"]


@pytest.mark.parametrize(
    ("allowed", "text"), [(True, "SQL and uploads run with limits only"), (False, "set ALLOW_UNISOLATED=true")]
)
async def test_cells_without_isolation_are_named(
    app: FastAPI, anonymous: httpx.AsyncClient, tmp_path: Path, allowed: bool, text: str
) -> None:
    config = ProcessConfig(tmp_path / "cells", tier="none", allow_unisolated=allowed)
    unwalled = ProcessProvider(config)
    app.state.resources = replace(app.state.resources, cells=unwalled)
    await unwalled.start()
    ready = (await anonymous.get("/readyz")).json()
    await unwalled.close()
    assert ready["degraded"]["cells"].startswith("This host's kernel lacks the isolation")
    assert text in ready["degraded"]["cells"]
    assert (ready["status"], ready["untrusted_code"]["status"]) == ("limited", "refused")


async def test_metrics_count_requests_by_route_and_never_by_id(anonymous: httpx.AsyncClient, ada: User) -> None:
    await ada.http.get("/lab/agent/sessions/00000000-0000-0000-0000-000000000001")
    text = (await anonymous.get("/metrics")).text
    assert 'route="/lab/agent/sessions/{session_id}",status="404"' in text
    assert "00000000-0000" not in text


async def test_the_documentation_needs_no_other_host(anonymous: httpx.AsyncClient) -> None:
    page = await anonymous.get("/docs")
    assert "https://" not in page.text
    files = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(files) == 4
    for file in files:
        assert (await anonymous.get(f"/{file}")).status_code == 200


@pytest.mark.parametrize("name", ["../main.py", "..%2f..%2fmain.py", "__init__.py"])
async def test_the_documentation_serves_its_own_files_only(anonymous: httpx.AsyncClient, name: str) -> None:
    assert (await anonymous.get(f"/docs/{name}")).status_code == 404


async def test_a_database_that_went_away_is_a_503_that_says_when_to_come_back(app: FastAPI, ada: User) -> None:
    resources = app.state.resources
    await resources.engine.dispose()
    app.state.resources = replace(resources, open_uow=unit_of_work(nowhere(), resources.send))
    answer = await ada.http.get("/auth/me")
    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
    assert answer.headers["retry-after"] == "3"
    assert "nowhere" not in answer.text


def nowhere() -> AsyncEngine:
    """Nothing listens on this port: it is a privileged one that nobody uses."""
    return create_engine("postgresql://labcrew@127.0.0.1:1/labcrew")


async def test_text_that_postgres_cannot_hold_is_the_callers_to_mend(app: FastAPI, ada: User) -> None:
    made = await ada.http.get("/models", params={"session_id": "x\0"})
    assert made.status_code == 422
    found = await ada.http.get("/prices/statistics", params={"coin": "BTC\0"})
    assert found.status_code in {404, 422}


async def test_readiness_is_limited_by_a_chat_model_that_cannot_be_used(
    app: FastAPI, anonymous: httpx.AsyncClient
) -> None:
    def answer(place: int) -> tuple[str, dict[str, object]]:
        raise AssertionError("Readiness must not use tokens.")

    with serving_wires(answer) as wires:
        config = ChatConfig("openai:nobody", wires.address, {"openai": KEY})
        app.state.resources = replace(app.state.resources, chat_health=ModelHealth(config))
        ready = await anonymous.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (200, "limited")
    assert "does not know the chat model 'openai:nobody'" in ready.json()["degraded"]["chat_model"]


async def test_a_strict_look_refuses_what_nobody_can_work_on(
    app: FastAPI, anonymous: httpx.AsyncClient
) -> None:
    assert (await anonymous.get("/readyz", params={"strict": 1})).status_code == 503
    await app.state.resources.database.rows(
        "insert into workers (id, graphs, queues) values (gen_random_uuid(), '{}', '{steps,compute}')"
    )
    strict = await anonymous.get("/readyz", params={"strict": 1})
    assert (strict.status_code, strict.json()["status"]) == (200, "ready")
