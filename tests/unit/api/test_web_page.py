"""The built page as the API serves it."""

import base64
import gzip
import hashlib
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from app.api.server.web_page import WebPage

START = 'window.x = "start";'
SHELL = f"<!doctype html><script src='/theme.js'></script><script>{START}</script>"
SCRIPT = "console.log(1);" * 200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "_app" / "immutable").mkdir(parents=True)
    (tmp_path / "index.html").write_text(SHELL)
    (tmp_path / "_app" / "immutable" / "start.AbC1.js").write_text(SCRIPT)
    (tmp_path.parent / "secret.txt").write_text("not served")
    return tmp_path


def client(folder: Path) -> httpx.AsyncClient:
    async def api(request: object) -> JSONResponse:
        return JSONResponse({}, 201)

    app = Starlette(routes=[Route("/api/v1/made", api, methods=["POST"]), WebPage(folder)])
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://lab")


async def test_every_address_of_the_page_gets_the_page(folder: Path) -> None:
    async with client(folder) as http:
        for path in ("/", "/sessions/6f1c1c3e", "/data?sort=name"):
            answer = await http.get(path, headers={"Accept": "text/html,*/*"})
            assert (answer.status_code, answer.text) == (200, SHELL), path
            assert answer.headers["cache-control"] == "no-cache"


async def test_what_is_not_of_the_page_stays_a_problem(folder: Path) -> None:
    async with client(folder) as http:
        for path in (
            "/api",
            "/api/v1/nothing",
            "/docs/x",
            "/missing.js",
            "/../secret.txt",
            "/%2e%2e/secret.txt",
        ):
            assert (await http.get(path, headers={"Accept": "text/html"})).status_code == 404, path
        assert (await http.get("/sessions", headers={"Accept": "application/json"})).status_code == 404
        assert (await http.post("/", headers={"Accept": "text/html"})).status_code == 404
        assert (await http.post("/api/v1/made")).status_code == 201


async def test_the_policy_knows_the_start_script_and_no_other(folder: Path) -> None:
    async with client(folder) as http:
        policy = (await http.get("/")).headers["content-security-policy"]
    digest = base64.b64encode(hashlib.sha256(START.encode()).digest()).decode()
    directives = dict(part.split(" ", 1) for part in policy.split("; "))
    assert directives["script-src"] == f"'self' 'sha256-{digest}'"
    assert directives["default-src"] == directives["base-uri"] == directives["frame-ancestors"] == "'none'"
    assert directives["require-trusted-types-for"] == "'script'"
    assert "unsafe-inline" not in policy
    assert "unsafe-eval" not in policy


async def test_a_worker_may_connect_to_its_own_service_and_load_nothing(folder: Path) -> None:
    (folder / "_app" / "immutable" / "workers").mkdir()
    (folder / "_app" / "immutable" / "workers" / "hub.AbC1.js").write_text(SCRIPT)
    async with client(folder) as http:
        worker = await http.get("/_app/immutable/workers/hub.AbC1.js")
        script = await http.get("/_app/immutable/start.AbC1.js")
    assert worker.headers["content-security-policy"] == "default-src 'none'; connect-src 'self'"
    assert "content-security-policy" not in script.headers, "the middleware sends the strict one"


async def test_files_are_compressed_and_asked_for_once(folder: Path) -> None:
    path = "/_app/immutable/start.AbC1.js"
    async with client(folder) as http:
        answer = await http.get(path)
        assert answer.text == SCRIPT
        assert answer.headers["content-encoding"] == "gzip"
        assert int(answer.headers["content-length"]) == len(gzip.compress(SCRIPT.encode(), mtime=0))
        assert "immutable" in answer.headers["cache-control"]
        again = await http.get(path, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        plain = await http.get(path, headers={"Accept-Encoding": "identity"})
        assert plain.text == SCRIPT
        assert "content-encoding" not in plain.headers


async def test_without_a_build_the_address_says_how_to_make_one(tmp_path: Path) -> None:
    async with client(tmp_path / "nothing") as http:
        answer = await http.get("/")
        assert answer.status_code == 404
        assert "make page" in answer.text
