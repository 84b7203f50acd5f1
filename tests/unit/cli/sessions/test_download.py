"""Downloads of the terminal's client."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from app.cli.api_client.client import LabClient

REPORT = b"first half, " + b"second half"


class SlowReport(BaseHTTPRequestHandler):
    """Sends half of a report; the other half when the test says so, if the request asks for `slow`."""

    is_sending = threading.Event()
    may_end = threading.Event()

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(REPORT)))
        self.end_headers()
        self.wfile.write(REPORT[:12])
        if self.path.endswith("slow"):
            self.is_sending.set()
            self.may_end.wait()
        self.wfile.write(REPORT[12:])

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output free of requests."""


@pytest.fixture
def api() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), SlowReport)
    threading.Thread(target=server.serve_forever).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_two_commands_may_save_one_report_at_once(api: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"

    def save(resource: str) -> None:
        with LabClient(api, "lab_key") as client:
            client.save(resource, path)

    slow = threading.Thread(target=save, args=["/slow"])
    slow.start()
    SlowReport.is_sending.wait()
    save("/fast")
    assert path.read_bytes() == REPORT
    path.unlink()
    SlowReport.may_end.set()
    slow.join()
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert path.read_bytes() == REPORT
