"""A small application behind the real middleware and failure handlers."""

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from app.api.exception_handlers import add_failures
from app.api.server.middleware import BodyLimit, Envelope
from app.errors import Conflict, NotFound, TooMany


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")

    password: str = Field(min_length=5)
    count: int = 1


def small_app() -> FastAPI:
    app = FastAPI()
    add_failures(app)
    app.add_middleware(BodyLimit, limit_bytes=100, larger=[("/large/[^/]+", 1000)])
    app.add_middleware(Envelope)

    @app.post("/echo")
    async def echo(body: Body) -> Body:
        return body

    @app.post("/large/{name}")
    async def large(request: Request, name: str) -> int:
        return len(await request.body())

    @app.get("/missing")
    async def missing() -> None:
        raise NotFound("thing_not_found", "There is no such thing.", nearest=["thong"])

    @app.get("/taken")
    async def conflict() -> None:
        raise Conflict("taken", "It is taken.", status=999)

    @app.get("/busy")
    async def busy() -> None:
        raise TooMany("too_many", "Wait.", retry_after_s=7)

    @app.get("/broken")
    async def broken() -> None:
        raise RuntimeError("secret internals")

    @app.get("/page")
    async def page() -> Response:
        return Response("x", headers={"Content-Security-Policy": "default-src 'self'"})

    return app


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(small_app()), base_url="http://lab") as client:
        yield client
