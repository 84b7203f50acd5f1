"""The line of `labcrew up` about cells without isolation, from an API that answers over HTTP."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from app.cli.supervisor import isolation_notice
from app.cli.supervisor.isolation_notice import IsolationNotice

LACK = "This host's kernel lacks the isolation."
STARTING = {"degraded": {"cells": "It has not answered yet."}, "untrusted_code": {"status": "unknown"}}
WALLED = {"degraded": {"workers": "None."}, "untrusted_code": {"status": "allowed"}}
WITHOUT = {"degraded": {"cells": LACK}, "untrusted_code": {"status": "refused"}}


@pytest.fixture
def answers() -> list[object]:
    return []


@pytest.fixture
def api(answers: list[object]) -> Iterator[str]:
    class Api(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(answers.pop(0)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Api) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        serving.join()


@pytest.mark.parametrize(
    ("script", "lines"),
    [([STARTING, WITHOUT], [f"Cells: {LACK}"]), ([STARTING, WALLED], []), (["nonsense", WALLED], [])],
)
def test_the_lack_of_isolation_is_one_line(
    api: str, answers: list[object], monkeypatch: pytest.MonkeyPatch, script: list[object], lines: list[str]
) -> None:
    monkeypatch.setattr(isolation_notice, "_PAUSE_S", 0.0)
    answers.extend(script)
    told: list[str] = []
    notice = IsolationNotice(api, told.append)
    for _ in range(5):  # more than there are answers: it asks no more once it knows
        notice.look()
    assert (told, answers) == (lines, [])


def test_an_api_that_is_away_is_asked_again_later() -> None:
    told: list[str] = []
    IsolationNotice("http://127.0.0.1:9", told.append).look()
    assert told == []
