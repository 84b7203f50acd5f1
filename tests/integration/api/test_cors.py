"""Pages of listed origins may call the API and read its errors; others may not."""

import pytest
from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient

from app.main import create_app
from app.settings import Settings

ALLOWED = "https://lab.example.com"
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}


def page(app: FastAPI, origin: str) -> AsyncClient:
    return AsyncClient(transport=ASGITransport(app), base_url="http://lab", headers={"Origin": origin})


@pytest.mark.parametrize(("origin", "allowed"), [(ALLOWED, True), ("https://other.example.com", False)])
async def test_only_listed_origins_may_call(settings: Settings, origin: str, allowed: bool) -> None:
    app = create_app(settings.model_copy(update={"cors_origins": (ALLOWED,)}))
    async with app.router.lifespan_context(app), page(app, origin) as http:
        preflight = await http.options("/api/v1/datasets", headers=PREFLIGHT)
        refusal = await http.get("/api/v1/datasets")
    assert (preflight.status_code == 200) == allowed
    assert refusal.status_code == 401
    assert (refusal.headers.get("access-control-allow-origin") == origin) == allowed


async def test_no_origin_is_listed_by_default(app: FastAPI) -> None:
    async with page(app, ALLOWED) as http:
        refusal = await http.get("/api/v1/datasets")
    assert "access-control-allow-origin" not in refusal.headers
